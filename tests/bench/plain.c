/* The yardstick: `plain` Dice Fever, hold_pot:12 against hold_dice:3, as a plain C loop with the same generator.
 * Prints: games, wins of hold_pot in seat 0, games with hold_pot in seat 0, wins in seat 1, games, seconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TARGET = 76, FEVER_BONUS = 10, HOLD_POT = 0, HOLD_DICE = 1 };

static uint64_t a = 1, b = 2, c = 3, counter = 1;

static uint64_t next_word(void) {
    uint64_t word = a + b + counter++;
    a = b ^ (b >> 11);
    b = c + (c << 3);
    c = ((c << 24) | (c >> 40)) + word;
    return word;
}

static int die(void) { /* 1..6, unbiased: multiply, shift, reject */
    for (;;) {
        uint64_t product = (next_word() >> 32) * 6;
        if ((uint32_t)product >= 4) return (int)(product >> 32) + 1; /* 2^32 mod 6 = 4 */
    }
}

/* Play one turn; return its points, 0 for OUT. `to_beat` is the score of a validated opponent, or 0. */
static int turn(int policy, int score, int to_beat) {
    int track = 0, count = 0, pips = 0;
    for (;;) {
        int value = die();
        if (track >> value & 1) return 0;
        track |= 1 << value;
        pips += value;
        if (++count == 6) return pips + FEVER_BONUS;
        int total = score + pips;
        if (total >= TARGET && !(track >> 6 & 1)) continue;
        if (to_beat && total < to_beat) continue;
        if (policy == HOLD_POT ? pips >= 12 : count >= 3) return pips;
    }
}

static int sudden_death(void) { /* the seat that wins */
    int track = 0;
    for (int seat = 0;; seat = 1 - seat) {
        int value = die();
        if (track >> value & 1) return 1 - seat;
        track |= 1 << value;
    }
}

static int winner(int first, int second) {
    int score[2] = {0, 0};
    for (;;) {
        score[0] += turn(first, score[0], 0);
        score[1] += turn(second, score[1], score[0] >= TARGET ? score[0] : 0);
        if (score[0] < TARGET && score[1] < TARGET) continue;
        if (score[0] != score[1]) return score[1] > score[0];
        return sudden_death();
    }
}

int main(int argc, char **argv) {
    long games = argc > 1 ? atol(argv[1]) : 1000000, wins[2] = {0, 0};
    for (int i = 0; i < 20; i++) next_word();
    clock_t start = clock();
    for (long game = 0; game < games; game++) {
        if (game % 2 == 0) wins[0] += winner(HOLD_POT, HOLD_DICE) == 0;
        else wins[1] += winner(HOLD_DICE, HOLD_POT) == 1;
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%ld %ld %ld %ld %ld %.6f\n", games, wins[0], (games + 1) / 2, wins[1], games / 2, seconds);
    return 0;
}
