import numba
import numpy as np
import pytest
from scipy import stats

from sims.jit import INTERPRETED
from sims.streams import draw, mix, next_word, open_deal

MASK = 2**64 - 1
FIVE_SIGMA = stats.norm.sf(5)
N_DEALS = 3_000 if INTERPRETED else 400_000
SEATS, DEPTH = 3, 4  # streams per deal: a die and a mind per seat, and the table's; draws taken of each


@pytest.fixture(autouse=True)
def words_overflow():
    """Interpreted, the 64-bit words overflow as they should."""
    with np.errstate(over="ignore"):
        yield


@numba.njit
def fill_words(stream, out):
    for i in range(out.size):
        out[i] = next_word(stream)


@numba.njit
def fill_draws(stream, m, out):
    for i in range(out.size):
        out[i] = draw(stream, m)


@numba.njit
def fill_deals(seed, first_deal, step, dice, minds, out):
    for d in range(out.shape[0]):
        open_deal(dice, minds, seed, first_deal + d * step)
        for lane in range(out.shape[1]):
            stream = minds[lane >> 1] if lane & 1 else dice[lane >> 1]
            for i in range(out.shape[2]):
                out[d, lane, i] = draw(stream, 6)


def opened(seed, deal, seats=SEATS):
    """States by lane: dice 0, mind 0, dice 1, mind 1, ..., table."""
    dice, minds = np.zeros((seats + 1, 4), np.uint64), np.zeros((seats, 4), np.uint64)
    open_deal(dice, minds, np.uint64(seed), deal)
    return [(minds if lane & 1 else dice)[lane >> 1] for lane in range(2 * seats + 1)]


def deals(seed, first_deal=0, step=1):
    """Dice (deal, lane, draw) of consecutive deals, from 0 to 5."""
    dice, minds = np.zeros((SEATS + 1, 4), np.uint64), np.zeros((SEATS, 4), np.uint64)
    out = np.zeros((N_DEALS, 2 * SEATS + 1, DEPTH), np.int64)
    fill_deals(np.uint64(seed), first_deal, step, dice, minds, out)
    return out


def numpys(state):
    generator = np.random.SFC64()
    words = np.array(state, np.uint64)
    generator.state = {"bit_generator": "SFC64", "state": {"state": words}, "has_uint32": 0, "uinteger": 0}
    return generator


def lemire(generator, m):
    while True:
        high, low = divmod((int(generator.random_raw()) >> 32) * m, 2**32)
        if low >= 2**32 % m:
            return high


def is_uniform(counts):
    """Chi-square test of equally likely cells, at 5 sigma."""
    return stats.chisquare(np.ravel(counts)).pvalue > FIVE_SIGMA


def are_independent(x, y, m=6):
    """Both fair and every pair of values equally likely."""
    return is_uniform(np.bincount(x * m + y, minlength=m * m))


STATES = [(1, 2, 3, 1), (0, 0, 0, 0), (MASK, MASK, MASK, MASK), (0x0123456789ABCDEF, 2**63, 7, 2**64 - 2)]


@pytest.mark.parametrize("state", STATES)
def test_next_word_is_numpys_sfc64(state):
    stream, words = np.array(state, np.uint64), np.zeros(2_000, np.uint64)
    fill_words(stream, words)
    generator = numpys(state)
    np.testing.assert_array_equal(words, generator.random_raw(words.size))
    np.testing.assert_array_equal(stream, generator.state["state"]["state"])


@pytest.mark.parametrize("m", [1, 2, 3, 6, 7, 100, 2**31 + 1, 3_000_000_000])
def test_draw_is_lemires_on_numpys_words(m):
    stream, drawn = opened(5, 8)[0], np.zeros(2_000, np.int64)
    generator = numpys(stream)
    fill_draws(stream, m, drawn)
    assert drawn.tolist() == [lemire(generator, m) for _ in range(drawn.size)]


@pytest.mark.parametrize("m", [2, 3, 6, 100])
def test_draw_is_unbiased(m):
    drawn = np.zeros(20_000 if INTERPRETED else 10_000_000, np.int64)
    fill_draws(opened(1, 2)[0], m, drawn)
    assert drawn.min() == 0
    assert drawn.max() == m - 1
    assert is_uniform(np.bincount(drawn, minlength=m))


def test_draw_is_unbiased_where_rejection_matters():
    m = 3 * 2**30  # without rejection every third value would come twice as often
    drawn = np.zeros(3_000 if INTERPRETED else 300_000, np.int64)
    fill_draws(opened(1, 3)[0], m, drawn)
    assert is_uniform(np.bincount(drawn % 3, minlength=3))
    assert is_uniform(np.bincount(drawn // 2**30, minlength=3))


def test_chi_square_sees_a_loaded_die():
    assert not is_uniform(np.array([10_700, 9_860, 9_860, 9_860, 9_860, 9_860]))
    x = np.random.Generator(np.random.SFC64(1)).integers(0, 6, 3_000)
    assert not are_independent(x, x)


def scrambled(word):
    """SplitMix64 in Python's integers."""
    word = (word + 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def test_mix_is_splitmix64():
    assert [int(mix(np.uint64(word))) for word in (0, 1, MASK)] == [scrambled(word) for word in (0, 1, MASK)]
    assert scrambled(0) == 0xE220A8397B1DCDAF  # the published first output for seed 0


@pytest.mark.parametrize("seats", [2, 3, 10])
@pytest.mark.parametrize("seed, deal", [(0, 0), (1, 0), (0, 1), (2**63 - 1, 10**12), (20260101, 123_456)])
def test_open_deal_is_the_documented_formula(seed, deal, seats):
    a = scrambled(seed)
    b = scrambled((a + deal) & MASK)
    for lane, state in enumerate(opened(seed, deal, seats)):
        c = scrambled((b + lane) & MASK)
        assert [int(word) for word in state] == [c, scrambled(c ^ b), scrambled(c ^ a), 1]


def test_streams_of_a_seat_do_not_depend_on_the_number_of_seats():
    np.testing.assert_array_equal(opened(3, 4, 2)[:4], opened(3, 4, 6)[:4])


def test_different_keys_open_different_states():
    keys = [(seed, deal) for seed in (*range(20), 2**31, 2**32, 2**62, 2**63 - 1) for deal in (*range(50), 2**31, 2**32)]
    states = {tuple(map(int, state)) for key in keys for state in opened(*key)}
    assert len(states) == len(keys) * (2 * SEATS + 1)


@pytest.mark.parametrize("lane", range(2 * SEATS + 1))
def test_dice_of_every_lane_are_fair(lane):
    dice = deals(seed=0)[:, lane]
    for i in range(DEPTH):
        assert is_uniform(np.bincount(dice[:, i], minlength=6))
        assert i == 0 or are_independent(dice[:, 0], dice[:, i])


def test_lanes_are_independent():
    """Between seats, and between dice and minds."""
    dice = deals(seed=1)
    lanes = range(dice.shape[1])
    for one in lanes:
        for two in lanes[one + 1 :]:
            assert are_independent(dice[:, one, 0], dice[:, two, 0])
            assert are_independent(dice[:, one, 1], dice[:, two, 0])


def test_consecutive_deals_are_independent():
    dice = deals(seed=2)
    for lane in range(dice.shape[1]):
        assert are_independent(dice[:-1:2, lane, 0], dice[1::2, lane, 0])
        assert is_uniform(np.bincount((dice[1:, lane, 0] - dice[:-1, lane, 0]) % 6, minlength=6))


@pytest.mark.parametrize("step", [1, 2**20])
def test_consecutive_seeds_are_independent(step):
    one, two = deals(seed=3, step=step), deals(seed=4, step=step)
    for lane in range(one.shape[1]):
        assert are_independent(one[:, lane, 0], two[:, lane, 0])
        assert are_independent(one[:, lane, 1], two[:, lane, 0])
