"""Keyed random streams: SFC64 generators addressed by what they are for, not by the order in which they are opened.

A stream is an array of four 64-bit words, the state of Chris Doty-Humphrey's SFC64, the same as
``numpy.random.SFC64``'s. It is opened from a key (seed, deal, lane). With M the SplitMix64 finaliser, a bijection of the
64-bit words,

    a = M(seed),  b = M(a + deal),  c = M(b + lane),  state = (c, M(c ^ b), M(c ^ a), 1):

every word depends on the whole key, and different keys always give different states (c, then b, then a can be read
back, and from them lane, deal and seed). A deal has one lane for the dice of each seat, one for each seat's own mind, and
one for the table.
"""

import numpy as np

from sims.jit import cold, jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_S3, _S11, _S24, _S27, _S30, _S31, _S32, _S40 = (np.uint64(n) for n in (3, 11, 24, 27, 30, 31, 32, 40))
_ONE = np.uint64(1)


@jit
def mix(word):
    """Scramble a 64-bit word (SplitMix64's finaliser; Stafford's mix 13)."""
    word = word + _GOLDEN
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@jit
def next_word(stream):
    """Return the next 64-bit word of a stream (SFC64)."""
    a, b, c, counter = stream[0], stream[1], stream[2], stream[3]
    word = a + b + counter
    stream[0] = b ^ (b >> _S11)
    stream[1] = c + (c << _S3)
    stream[2] = ((c << _S24) | (c >> _S40)) + word
    stream[3] = counter + _ONE
    return word


@jit
def draw(stream, m):
    """Draw an unbiased integer from 0..m-1 (Lemire 2019: multiply, shift, reject)."""
    bound = np.uint64(m)
    product = (next_word(stream) >> _S32) * bound
    if product & _LOW_32 < bound:
        product = accepted(stream, bound, product)
    return np.int64(product >> _S32)


@cold
def accepted(stream, bound, product):
    """Draw again while the low half of the product is among those that would make some outcomes likelier."""
    rejected = (_LOW_32 + _ONE - bound) % bound
    while product & _LOW_32 < rejected:
        product = (next_word(stream) >> _S32) * bound
    return product


@jit
def open_deal(dice, minds, seed, deal):
    """Open every stream of a deal.

    Parameters
    ----------
    dice : uint64 array (seats + 1, 4)
        Filled with one stream per seat, and in the last row the table's own.
    minds : uint64 array (seats, 4)
        Filled with each seat's own stream, the ``rng`` of its policy.
    seed, deal : int
        The key; the lanes are 0, 1, 2, ... in the order dice 0, mind 0, dice 1, mind 1, ..., table last.
    """
    a = mix(np.uint64(seed))
    b = mix(a + np.uint64(deal))
    seats = minds.shape[0]
    for lane in range(2 * seats + 1):
        stream = minds[lane >> 1] if lane & 1 else dice[lane >> 1]
        c = mix(b + np.uint64(lane))
        stream[0], stream[1], stream[2], stream[3] = c, mix(c ^ b), mix(c ^ a), _ONE
