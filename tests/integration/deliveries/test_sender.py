"""Messages leave the outbox once, whatever Telegram answers."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.rules.message_parts import utf16_length
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.beats import SENDER, beat
from argus_memory.watch.channels import telegram_target
from argus_memory.watch.message_text import SENT_AGAIN, Message, Part
from argus_memory.watch.sender import send_pending
from argus_memory.watch.sender_state import find_sender_state, load_state
from argus_memory.watch.telegram import TelegramDoor
from tests.integration.deliveries.conftest import NOW, Put, outcomes, row_of
from tests.stubs.telegram_server import TelegramServer

LATER = NOW + timedelta(minutes=5)
MUCH_LATER = NOW + timedelta(minutes=9, seconds=55)


def test_a_message_is_sent_once_with_its_text_escaped(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Title in bold, everything written escaped, and a second pass sends nothing."""
    id_ = put("a <b> & c", title="x < y")
    assert send_pending(db, outbox, now=NOW, by="test").sent == 1
    assert send_pending(db, outbox, now=LATER, by="test").sent == 0
    assert telegram.texts == ["<b>x &lt; y</b>\na &lt;b&gt; &amp; c"]
    row = row_of(db, id_)
    assert (row["status"], row["target"], row["last_error"]) == ("sent", "telegram:100", None)
    assert row["message_ids"] == [{"part": 1, "chat": "100", "id": 1}]


def test_a_topic_is_addressed_and_the_general_topic_is_not(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """chat/7 goes with its thread; chat/1 is the general topic, which Telegram wants without one."""
    settings = replace(outbox, telegram_chats=("main=-200/1", "team=-200/7"))
    put(channel="team")
    put(channel="main")
    send_pending(db, settings, now=NOW, by="test")
    assert [(one.chat, one.thread) for one in telegram.accepted] == [("-200", "7"), ("-200", None)]


def test_a_long_message_is_cut_at_paragraphs(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Every part is below 4,096 UTF-16 units, numbered, ends with a paragraph, and nothing is lost."""
    paragraphs = [f"{number} " + "🦉 word " * 60 for number in range(20)]
    put("\n\n".join(paragraphs))
    send_pending(db, outbox, now=NOW, by="test")
    assert len(telegram.texts) > 2
    assert all(utf16_length(text) <= 4096 for text in telegram.texts)
    assert telegram.texts[0].endswith(f"<i>(1 of {len(telegram.texts)})</i>")
    joined = "\n".join(telegram.texts)
    assert [number for number in range(20) if f"\n{number} 🦉" in f"\n{joined}"] == list(range(20))


def test_a_very_long_message_is_a_file(db: Database, outbox: Settings, telegram: TelegramServer, put: Put) -> None:
    """Above five parts one document comes, whose caption fits and whose content is the whole text."""
    text = "line\n" * 12_000
    put(text, title="Log <of> the night")
    send_pending(db, outbox, now=NOW, by="test")
    (sent,) = telegram.accepted
    assert sent.method == "sendDocument"
    assert sent.text == "<b>Log &lt;of&gt; the night</b>\nThe whole text is in the file."
    assert sent.file == text.strip().encode()


def test_what_failed_at_its_second_part_goes_on_there(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Part 1 is not sent again."""
    id_ = put("word " * 2000)
    telegram.behave("ok", "500", "ok")
    send_pending(db, outbox, now=NOW, by="test")
    assert (row_of(db, id_)["parts_sent"], row_of(db, id_)["status"]) == (1, "pending")
    send_pending(db, outbox, now=LATER, by="test")
    assert row_of(db, id_)["status"] == "sent"
    numbers = [text.rpartition("(")[2].partition(" of")[0] for text in telegram.texts]
    assert numbers == ["1", "2", "3"]


def test_refused_markup_goes_as_plain_text(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """After "can't parse entities" the same words go without a parse mode."""
    id_ = put("1 < 2", title="T")
    telegram.behave("markup")
    send_pending(db, outbox, now=NOW, by="test")
    assert [(one.mode, one.text) for one in telegram.accepted] == [(None, "T\n1 < 2")]
    assert outcomes(db, id_) == ["plain-text", "sent"]


@pytest.mark.parametrize(("behaviour", "said"), [("topic", "topic is gone"), ("403", "bot was blocked"), ("chat", "chat not found")])
def test_a_lost_topic_or_chat_falls_back_to_main(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put, behaviour: str, said: str
) -> None:
    """The message comes in the main chat with a line that says why, and last_error keeps it."""
    id_ = put(channel="team")
    telegram.behave(behaviour, chat="-200")
    send_pending(db, outbox, now=NOW, by="test")
    (sent,) = telegram.accepted
    assert sent.chat == "100"
    assert said in sent.text
    assert "“team”" in sent.text
    row = row_of(db, id_)
    assert row["target"] == "telegram:100"
    assert said in row["last_error"]
    assert outcomes(db, id_) == ["main-chat", "sent"]


def test_a_lost_topic_of_main_itself_falls_back_to_its_group(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """There is no other place: the group without a thread."""
    put()
    telegram.behave("topic")
    send_pending(db, replace(outbox, telegram_chats=("main=-200/7",)), now=NOW, by="test")
    assert [(one.chat, one.thread) for one in telegram.accepted] == [("-200", None)]


def test_a_blocked_main_chat_keeps_the_message(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """403 at the main chat: nothing is given up, and after the block it arrives."""
    id_ = put()
    telegram.behave("403")
    now = NOW
    for _ in range(7):
        send_pending(db, outbox, now=now, by="test")
        now += timedelta(minutes=11)
    assert row_of(db, id_)["status"] == "pending"
    beat(db, SENDER, now=now, detail=load_state(db).as_json())
    verdict = find_sender_state(db, outbox, now=now)
    assert (verdict.status, "(403)" in verdict.detail) == ("failed", True)
    telegram.behave("ok")
    send_pending(db, outbox, now=now, by="test")
    assert row_of(db, id_)["status"] == "sent"


def test_an_unknown_channel_falls_back_to_main(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """The message says so, and so does last_error."""
    id_ = put(channel="reserch")
    send_pending(db, outbox, now=NOW, by="test")
    assert "There is no channel “reserch”" in telegram.texts[0]
    assert "reserch" in row_of(db, id_)["last_error"]


def test_a_group_that_became_a_supergroup_is_followed(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """The message goes to the new id and tells what to change."""
    put(channel="team")
    telegram.behave("moved:-300")
    send_pending(db, outbox, now=NOW, by="test")
    (sent,) = telegram.accepted
    assert sent.chat == "-300"
    assert "-200 is now -300" in sent.text


def test_too_many_requests_halts_the_whole_bot(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """No chat gets anything before retry_after is over; then both messages come, each once."""
    put(channel="main")
    put(channel="team")
    telegram.behave("429:30", "ok")
    send_pending(db, outbox, now=NOW, by="test")
    send_pending(db, outbox, now=NOW + timedelta(seconds=25), by="test")
    assert len(telegram.sends) == 1
    send_pending(db, outbox, now=NOW + timedelta(seconds=33), by="test")
    assert len(telegram.accepted) == 2


@pytest.mark.parametrize("behaviour", ["401", "404"])
def test_a_wrong_token_keeps_everything_and_shows_in_health(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put, behaviour: str
) -> None:
    """One try, not one for each message; health says failed; with the token set right all of them go."""
    ids = [put(), put(channel="team")]
    telegram.behave(behaviour)
    telegram.behave(behaviour, method="getMe")
    send_pending(db, outbox, now=NOW, by="test")
    assert len(telegram.sends) == 1
    verdict = find_sender_state(db, outbox, now=NOW)
    assert (verdict.status, "ARGUS_TELEGRAM_TOKEN" in verdict.detail) == ("failed", True)
    send_pending(db, outbox, now=LATER, by="test")
    assert len(telegram.sends) == 1  # found out by a question, not by a message
    telegram.behave("ok")
    telegram.behave("ok", method="getMe")
    send_pending(db, outbox, now=MUCH_LATER, by="test")
    assert [row_of(db, id_)["status"] for id_ in ids] == ["sent", "sent"]
    assert find_sender_state(db, outbox, now=MUCH_LATER).status != "failed"


def test_an_outage_of_a_day_loses_nothing_and_doubles_nothing(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Passes go on while the connection is refused; afterwards every message has come once, in order, and says it is late."""
    ids = [put(f"message {number}") for number in range(4)]
    telegram.stop()
    for hours in range(0, 24, 3):
        assert send_pending(db, outbox, now=NOW + timedelta(hours=hours), by="test").sent == 0
    assert [row_of(db, id_)["status"] for id_ in ids] == ["pending"] * 4
    with telegram:
        now = NOW + timedelta(hours=25)
        while send_pending(db, outbox, now=now, by="test").waiting:
            now += timedelta(seconds=2)
    assert [text.rpartition("message ")[2] for text in telegram.texts] == ["0", "1", "2", "3"]
    assert "(written 2026-05-04 09:00 UTC)" in telegram.texts[0]


def test_a_lost_answer_is_asked_about_and_the_second_copy_marked(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """While Telegram does not answer the harmless question, the message is not sent a second time."""
    id_ = put()
    telegram.behave("drop", "ok")
    telegram.behave("500", method="getMe")
    send_pending(db, outbox, now=NOW, by="test")
    send_pending(db, outbox, now=LATER, by="test")
    assert len(telegram.sends) == 1
    telegram.behave("ok", method="getMe")
    send_pending(db, outbox, now=MUCH_LATER, by="test")
    assert len(telegram.texts) == 1
    assert SENT_AGAIN in telegram.texts[0]
    assert outcomes(db, id_) == ["unknown", "sent"]


def test_a_hanging_telegram_is_a_lost_answer(outbox: Settings, telegram: TelegramServer) -> None:
    """The door gives up after its read time-out, and says that the message may have arrived."""
    telegram.behave("hang")
    door = TelegramDoor(outbox, read_seconds=0.3)
    try:
        message = Message(1, "k", "deliver", "main", "T", "x", None, NOW)
        answer = door.send(message, Part(1, 1, "T", "x"), telegram_target("100", None), plain=False, notes=())
    finally:
        door.close()
    assert (answer.kind, answer.status) == ("unknown", None)


@pytest.mark.parametrize(("behaviour", "outcome"), [("409", "retry"), ("500", "retry"), ("502", "retry"), ("prose", "unknown"), ("504", "unknown")])
def test_passing_troubles_are_tried_again(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put, behaviour: str, outcome: str
) -> None:
    """The message waits, and arrives when the trouble is over."""
    id_ = put()
    telegram.behave(behaviour, "ok")
    send_pending(db, outbox, now=NOW, by="test")
    assert row_of(db, id_)["status"] == "pending"
    send_pending(db, outbox, now=LATER, by="test")
    assert row_of(db, id_)["status"] == "sent"
    assert outcomes(db, id_) == [outcome, "sent"]


def test_words_that_are_refused_are_given_up_and_block_nobody(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """After five refusals it is given up with the reason; the next message was sent meanwhile."""
    bad, good = put(channel="team"), put()
    telegram.behave("refused", chat="-200")
    send_pending(db, outbox, now=NOW, by="test")
    assert (row_of(db, bad)["status"], row_of(db, good)["status"]) == ("pending", "sent")
    for minutes in (20, 40, 60, 80):
        send_pending(db, outbox, now=NOW + timedelta(minutes=minutes), by="test")
    row = row_of(db, bad)
    assert (row["status"], "message text is empty" in row["last_error"]) == ("gave-up", True)
    assert find_sender_state(db, outbox, now=LATER).detail.count("given up") == 1


def test_the_lease_of_a_dead_sender_is_taken_over(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Not before it is over; the message is then marked, because the dead one may have sent it."""
    id_ = put()
    db.fetch_all(
        "update deliveries set status = 'sending', leased_by = 'gone', leased_until = %(until)s where id = %(id)s returning id",
        {"id": id_, "until": NOW + timedelta(seconds=90)},
    )
    assert send_pending(db, outbox, now=NOW, by="test").sent == 0
    assert send_pending(db, outbox, now=NOW + timedelta(seconds=91), by="test").sent == 1
    assert SENT_AGAIN in telegram.texts[0]


def test_two_senders_at_once_send_each_message_once(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Four threads over six channels: six messages, none twice."""
    chats = tuple(f"c{number}={number + 1}" for number in range(6))
    settings = replace(outbox, telegram_chats=chats)
    for number in range(6):
        put(f"to {number}", channel=f"c{number}")
    threads = [threading.Thread(target=send_pending, args=(db, settings), kwargs={"now": NOW, "by": f"t{n}"}) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(text.rpartition("to ")[2] for text in telegram.texts) == ["0", "1", "2", "3", "4", "5"]


def test_a_group_gets_twenty_a_minute_and_alerts_first(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """With its twenty used up nothing goes; in the next minute the alert goes before what was written earlier."""
    done = put(channel="team")
    db.fetch_all(
        """with gone as (update deliveries set status = 'sent', target = 'telegram:-200/7' where id = %(id)s returning id)
           insert into delivery_attempts (delivery_id, at, part, outcome)
           select id, %(now)s - make_interval(secs => n), 1, 'sent' from gone, generate_series(2, 40, 2) n returning id""",
        {"id": done, "now": NOW},
    )
    put("earlier", channel="team")
    with db.transaction() as conn:
        raise_alert(conn, outbox, Condition("health", "health:x", "it broke", channel="team"), now=NOW, by="test")
    assert send_pending(db, outbox, now=NOW, by="test").sent == 0
    assert send_pending(db, outbox, now=NOW + timedelta(seconds=21), by="test", limit=1).sent == 1
    assert "it broke" in telegram.texts[0]


def test_the_recovery_never_overtakes_its_alert(
    db: Database, outbox: Settings, telegram: TelegramServer
) -> None:
    """While the alert waits for its next try the recovery waits too; then they come in order."""
    with db.transaction() as conn:
        raise_alert(conn, outbox, Condition("health", "health:x", "it broke"), now=NOW, by="test")
    telegram.behave("500", "ok")
    send_pending(db, outbox, now=NOW, by="test")
    db.fetch_all("update deliveries set next_try_at = next_try_at + interval '3 min' returning id")
    with db.transaction() as conn:
        clear_alert(conn, outbox, "health", "health:x", now=NOW, by="test")
    assert send_pending(db, outbox, now=NOW + timedelta(minutes=1), by="test").sent == 0
    assert send_pending(db, outbox, now=LATER, by="test").sent == 2
    assert ["it broke" in text for text in telegram.texts] == [True, True]
    assert telegram.texts[1].startswith("<b>🟢")


def test_without_a_target_everything_is_kept_and_old_messages_are_folded_later(
    db: Database, settings: Settings, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """Nothing pretends to be sent; with a token two old ones come as one summary, the new one by itself."""
    old = [put(title="first"), put(title="second", kind="digest")]
    report = send_pending(db, settings, now=NOW, by="test")
    assert (report.sent, report.waiting) == (0, 2)
    assert "nothing is configured to send" in (report.why or "")
    assert find_sender_state(db, settings, now=NOW).status == "unknown"
    now = NOW + timedelta(days=2)
    new = put("new one", now=now)
    report = send_pending(db, outbox, now=now, by="test")
    assert (report.folded, report.sent) == (2, 2)
    assert [row_of(db, id_)["status"] for id_ in (*old, new)] == ["folded", "folded", "sent"]
    assert "2 messages waited" in telegram.texts[1]
    assert "second" in telegram.texts[1]
    assert load_state(db).unconfigured_since is None


def test_no_secret_reaches_the_outbox_or_the_logs(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put, caplog: pytest.LogCaptureFixture
) -> None:
    """The token stands in every address of the Bot API: in no error, no log line and no message."""
    caplog.set_level("DEBUG")
    put(f"the token is {telegram.token}")
    send_pending(db, outbox, now=NOW, by="test")
    telegram.behave("401")
    put()
    send_pending(db, outbox, now=NOW + timedelta(seconds=5), by="test")
    telegram.stop()
    send_pending(db, outbox, now=LATER, by="test")
    kept = str(db.fetch_all("select * from deliveries d left join delivery_attempts a on a.delivery_id = d.id"))
    kept += str(db.fetch_all("select detail from watcher_beats")) + caplog.text
    secret = telegram.token.partition(":")[2]
    assert secret not in kept.replace(f"the token is {telegram.token}", "")
    assert secret not in "".join(telegram.texts)
