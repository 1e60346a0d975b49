"""Pairs of notes, invented and labelled by hand before any rule was tried on them: do the two state one fact?

Each half holds every kind. DEV was looked at while the rules were changed; HELD_OUT was only counted.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal["same", "reworded", "number", "name", "negation", "unit", "version", "contradiction"]
REPEATS: Final = ("same", "reworded")


class Pair(NamedTuple):
    kind: Kind
    one: str
    other: str

    @property
    def is_repeat(self) -> bool:
        return self.kind in REPEATS


DEV: Final = (
    Pair("same", "The freezer is defrosted in January.", "the freezer is defrosted in January"),
    Pair("same", "We don't ship on Fridays.", "We do not ship on Fridays."),
    Pair("same", "The sauna heats for 40 minutes.", "The sauna heats for **40 minutes**."),
    Pair("same", "The garage code is six digits long.", "The garage code is 6 digits long."),
    Pair("same", "Actually, Tove sings in the choir.", "Tove sings in the choir."),
    Pair("same", "I'm left-handed.", "I am left-handed."),
    Pair("reworded", "The bakery closes at 18:00.", "At 6 pm the bakery closes."),
    Pair("reworded", "Tove has a cat called Minka.", "Tove's cat is named Minka."),
    Pair("reworded", "The nightly report is written by the cron job.", "The cron job writes the nightly report."),
    Pair("reworded", "The user prefers short answers.", "I like short answers."),
    Pair("reworded", "Jonas moved to Lisbon in 2022.", "In 2022 Jonas relocated to Lisbon."),
    Pair("reworded", "The kitchen wall should be painted grey.", "The wall of the kitchen must be painted gray."),
    Pair("reworded", "Our invoices are due within 14 days.", "Invoices have to be paid within 14 days."),
    Pair("reworded", "The laptop has 32 GB of memory.", "The notebook has 32 gigabytes of memory."),
    Pair("reworded", "The blog is hosted on the small server.", "The small server hosts the blog."),
    Pair("reworded", "Ask Petra before changing the schema.", "Before the schema is changed, ask Petra."),
    Pair("reworded", "The heating fails when it is below -10 degrees.", "Below -10 °C the heating fails."),
    Pair("reworded", "Mail is fetched every 5 minutes.", "E-mail gets fetched every five minutes."),
    Pair("reworded", "Tove's doctor is Dr Lund.", "Dr Lund is the physician of Tove."),
    Pair("reworded", "The team chose Redis over Kafka.", "Redis was picked by the team instead of Kafka."),
    Pair("number", "The sauna heats for 40 minutes.", "The sauna heats for 45 minutes."),
    Pair("number", "The invoice is 1,200 euros.", "The invoice is 12,000 euros."),
    Pair("number", "Mail is fetched every 5 minutes.", "Mail is fetched every 15 minutes."),
    Pair("number", "There are three keys to the shed.", "There are two keys to the shed."),
    Pair("name", "Tove feeds the hens.", "Jonas feeds the hens."),
    Pair("name", "The backup goes to Hamburg.", "The backup goes to Bremen."),
    Pair("name", "Lund treats Tove.", "Tove treats Lund."),
    Pair("negation", "The attic is insulated.", "The attic is not insulated."),
    Pair("negation", "Deploys need an approval.", "Deploys need no approval."),
    Pair("negation", "Tove eats fish.", "Tove never eats fish."),
    Pair("unit", "The cache holds 512 MB.", "The cache holds 512 GB."),
    Pair("unit", "The hose is 20 m long.", "The hose is 20 feet long."),
    Pair("unit", "The ticket costs 30 euros.", "The ticket costs 30 francs."),
    Pair("version", "The service runs on Node 18.", "The service runs on Node 20."),
    Pair("version", "We pin requests 2.31.0.", "We pin requests 2.32.0."),
    Pair("version", "Lint rules are those of v3.1.", "Lint rules are those of v3.10."),
    Pair("contradiction", "The meeting room is upstairs.", "The meeting room is downstairs."),
    Pair("contradiction", "The front door opens inwards.", "The front door opens outwards."),
    Pair("contradiction", "Tests run before the build.", "Tests run after the build."),
    Pair("contradiction", "Tove prefers trains to planes.", "Tove prefers planes to trains."),
    Pair("contradiction", "The lease begins in May.", "The lease ends in May."),
)

HELD_OUT: Final = (
    Pair("same", "The compost is turned in October.", "The compost is turned in October!"),
    Pair("same", "The lift can't carry the piano.", "The lift cannot carry the piano."),
    Pair("same", "Water freezes the outer tap at 0 degrees.", "water freezes the outer tap at 0 degrees"),
    Pair("same", "The choir meets at seven o'clock.", "The choir meets at 7 o'clock."),
    Pair("same", "Well, the roof was renewed in 2014.", "The roof was renewed in 2014."),
    Pair("same", "It's a two-door cupboard.", "It is a two-door cupboard."),
    Pair("reworded", "The pharmacy opens at 8:30.", "At 8:30 the pharmacy opens."),
    Pair("reworded", "Ida has a brother called Emil.", "Ida's brother is named Emil."),
    Pair("reworded", "The sensors are read by the gateway.", "The gateway reads the sensors."),
    Pair("reworded", "The user wants commit messages in English.", "I prefer commit messages in English."),
    Pair("reworded", "Emil bought the boat in 2018.", "The boat was purchased by Emil in 2018."),
    Pair("reworded", "The bike must be repaired before spring.", "Before spring the bicycle has to be fixed."),
    Pair("reworded", "The vault is synced every hour.", "The vault gets synced hourly."),
    Pair("reworded", "The disk has 2 TB.", "The disk has a capacity of 2 terabytes."),
    Pair("reworded", "The wiki is backed up by the server in the cellar.", "The server in the cellar backs up the wiki."),
    Pair("reworded", "Never restart the broker during the day.", "Do not restart the broker during the day."),
    Pair("reworded", "The pool is heated from April to September.", "From April to September the pool is heated."),
    Pair("reworded", "Reports are kept for two years.", "We keep reports for 2 years."),
    Pair("reworded", "Ida's employer is Norfisk.", "Ida works at Norfisk."),
    Pair("reworded", "We use Terraform instead of Pulumi.", "Terraform is used rather than Pulumi."),
    Pair("number", "The choir meets at seven o'clock.", "The choir meets at eight o'clock."),
    Pair("number", "The rent is 950 euros.", "The rent is 1,050 euros."),
    Pair("number", "Sessions expire after 30 minutes.", "Sessions expire after 60 minutes."),
    Pair("number", "Two people hold the key.", "Four people hold the key."),
    Pair("name", "Ida prunes the roses.", "Emil prunes the roses."),
    Pair("name", "The archive lies in Oslo.", "The archive lies in Bergen."),
    Pair("name", "Emil taught Ida to sail.", "Ida taught Emil to sail."),
    Pair("negation", "The cellar is dry.", "The cellar isn't dry."),
    Pair("negation", "Guests may park in the yard.", "Guests may not park in the yard."),
    Pair("negation", "Ida drinks alcohol.", "Ida drinks no alcohol."),
    Pair("unit", "The timeout is 30 s.", "The timeout is 30 ms."),
    Pair("unit", "The bag weighs 20 kg.", "The bag weighs 20 pounds."),
    Pair("unit", "The tap gives 8 litres a minute.", "The tap gives 8 litres an hour."),
    Pair("version", "The image is built from Debian 11.", "The image is built from Debian 12."),
    Pair("version", "We pin pandas 2.1.4.", "We pin pandas 2.2.4."),
    Pair("version", "The phone runs Android 14.", "The phone runs Android 15."),
    Pair("contradiction", "The switch is left of the door.", "The switch is right of the door."),
    Pair("contradiction", "The shop is closed on Mondays.", "The shop is open on Mondays."),
    Pair("contradiction", "Ida came from Tromso to Oslo.", "Ida came from Oslo to Tromso."),
    Pair("contradiction", "The fan is too loud.", "The fan is too quiet."),
    Pair("contradiction", "Paint the fence before winter.", "Paint the fence after winter."),
)
