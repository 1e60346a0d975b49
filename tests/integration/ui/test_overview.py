"""/ui."""
def test_x(browser, filled):
    r=browser.page("/ui")
    for n in ("segment","disk","recall","watchdog"):
        browser.page("/ui/checks/"+n)
