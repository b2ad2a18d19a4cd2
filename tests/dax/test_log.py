from dax.log import Cause, Change, Log, Position, RecentWrites

KEYS = [("Table", bytes([n])) for n in range(3)]


def test_the_log_knows_what_it_holds():
    log = Log()
    for sequence in (1, 2, 3):
        log.append(Change(Position(sequence, 1), Cause.WRITE, KEYS[0], None, 0.0))
    assert [change.position.sequence for change in log.after(Position(1, 1)) or ()] == [2, 3]
    assert log.after(Position(1, 2)) is None
    log.trim(2)
    assert (len(log), log.base, log.holds(Position(1, 1)), log.holds(Position(2, 1))) == (
        1, Position(2, 1), False, True,
    )  # fmt: skip
    assert log.after(Position(1, 1)) is None


def test_recent_writes_forget_the_oldest_and_then_refuse():
    recent = RecentWrites(2)
    for sequence, key in enumerate(KEYS, start=1):
        recent.note(key, sequence)
    assert recent.may_be_after(KEYS[1], 1)
    assert not recent.may_be_after(KEYS[1], 2)
    assert recent.may_be_after(("Table", b"other"), 0)
    assert not recent.may_be_after(("Table", b"other"), 1)
