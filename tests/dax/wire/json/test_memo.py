from dax.wire.json.memo import LARGEST_BODY, RequestMemo

KEY = ("Table", b"key")


def test_the_oldest_body_makes_room_and_a_long_one_is_not_kept():
    memo = RequestMemo(2)
    for body in (b"a", b"b", b"c", b"x" * (LARGEST_BODY + 1)):
        memo.put(body, KEY)
    assert [memo.get(body, 0) for body in (b"a", b"b", b"c", b"x" * (LARGEST_BODY + 1))] == [
        None,
        KEY,
        KEY,
        None,
    ]


def test_another_generation_of_schemas_empties_it():
    memo = RequestMemo()
    memo.put(b"a", KEY)
    assert (memo.get(b"a", 1), memo.get(b"a", 1)) == (None, None)
    memo.put(b"a", KEY)
    assert memo.get(b"a", 1) == KEY
