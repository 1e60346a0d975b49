"""What is tidied up once a day."""
