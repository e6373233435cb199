/* HSB on a binary tree of depth D, in odds form: as fast as plain tools make it.
 *
 * build: gcc -O3 -march=native -o tree_tuned tree_tuned.c -lm         (no -ffast-math: sums keep their order)
 * usage: ./tree_tuned IN OUT
 *
 * IN, float64:  rounds T, arms M (1..8), depth D (0..26), eta, 0, 0; T contexts in [0,1];
 *               T*M losses in [0,1], one row a round; T uniforms in [0,1).
 * OUT, float64: T arms played, then the T probabilities they were played with.
 * Prints "ns_per_round X": the rounds only, from a fresh state; neither reading nor writing is timed.
 *
 * A node holds its distribution over arms and its odds of stopping or going on to the child. A round goes
 * down the path of the context (reach, hence p) and, if there was a loss, up again (ratios). No probability
 * is ever found by subtraction, and none may fall below FLOOR: entries that underflow to zero would never
 * come back. A ratio is a convex combination of sums of arms, so it stays above FLOOR as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOOR 1e-280
#define MAX_DEPTH 26

typedef struct {
    long rounds;
    int arms, depth;
    double eta;
    const double *context, *loss, *uniform;
} Problem;

static inline double at_least(double x, double low) { return x > low ? x : low; }

/* One node is a row of doubles: arm[0..width-1], stop, go, padding. width is 4 or 8, a constant wherever these
 * two functions are inlined; with 4 a node is one cache line. The arms beyond M are kept at zero. */

/* multiplies a node's arms by factor and normalises them; returns their mass before that */
static inline __attribute__((always_inline)) double
reweigh(double *restrict node, const double *restrict factor, const double *restrict low, const int width)
{
    double arm[8], mass = 0.0;
    for (int m = 0; m < width; m++)
        arm[m] = node[m] * factor[m];
    for (int m = 0; m < width; m += 4)
        mass += (arm[m] + arm[m + 1]) + (arm[m + 2] + arm[m + 3]);
    const double scale = 1.0 / mass;
    for (int m = 0; m < width; m++)
        node[m] = at_least(arm[m] * scale, low[m]);
    return mass;
}

static inline __attribute__((always_inline)) void
play(const Problem *problem, double *restrict nodes, double *restrict arm_out, double *restrict p_out,
     const int width, const int arms)
{
    const int stride = 2 * width, depth = problem->depth;
    const long leaves = 1L << depth;
    const double eta = problem->eta;
    const double *restrict contexts = problem->context, *restrict losses = problem->loss,
                 *restrict uniforms = problem->uniform;
    double low[8];

    for (int m = 0; m < width; m++)
        low[m] = m < arms ? FLOOR : 0.0;

    for (long t = 0; t < problem->rounds; t++) {
        long cell = (long)(contexts[t] * (double)leaves);
        if (cell > leaves - 1)
            cell = leaves - 1;
        const long leaf = leaves + cell; /* its ancestors are leaf >> 1, leaf >> 2, ... */

        /* down: the probability of each arm */
        double p[8] = {0}, reach = 1.0;
        for (int up = depth; up >= 0; up--) {
            const double *node = nodes + (leaf >> up) * stride;
            const double here = reach * node[width];
            for (int m = 0; m < width; m++)
                p[m] += here * node[m];
            reach *= node[width + 1];
        }

        /* the first arm whose cumulative probability exceeds u * total: cumulative sums only grow, so count
         * those that do not */
        double sum[8];
        sum[0] = p[0];
        for (int m = 1; m < arms; m++)
            sum[m] = sum[m - 1] + p[m];
        const double target = uniforms[t] * sum[arms - 1];
        int played = 0;
        for (int m = 0; m < arms - 1; m++)
            played += sum[m] <= target;
        const double chance = p[played];
        arm_out[t] = played;
        p_out[t] = chance;

        const double loss = losses[t * arms + played];
        if (loss == 0.0)
            continue;

        /* up: every node's arms and options; ratio is that of the child just left */
        double factor[8];
        for (int m = 0; m < width; m++)
            factor[m] = 1.0;
        factor[played] = exp(-eta * loss / chance);
        double ratio = reweigh(nodes + leaf * stride, factor, low, width);
        for (long n = leaf >> 1; n > 0; n >>= 1) {
            double *node = nodes + n * stride;
            const double stop = node[width] * reweigh(node, factor, low, width);
            const double go = node[width + 1] * ratio;
            ratio = stop + go;
            const double scale = 1.0 / ratio;
            node[width] = at_least(stop * scale, FLOOR);
            node[width + 1] = at_least(go * scale, FLOOR);
        }
    }
}

/* one copy of the loop for each number of arms */
static void play_all(const Problem *problem, double *nodes, double *arm_out, double *p_out)
{
    switch (problem->arms) {
    case 1: play(problem, nodes, arm_out, p_out, 4, 1); break;
    case 2: play(problem, nodes, arm_out, p_out, 4, 2); break;
    case 3: play(problem, nodes, arm_out, p_out, 4, 3); break;
    case 4: play(problem, nodes, arm_out, p_out, 4, 4); break;
    case 5: play(problem, nodes, arm_out, p_out, 8, 5); break;
    case 6: play(problem, nodes, arm_out, p_out, 8, 6); break;
    case 7: play(problem, nodes, arm_out, p_out, 8, 7); break;
    case 8: play(problem, nodes, arm_out, p_out, 8, 8); break;
    }
}

static void fail(const char *what)
{
    fprintf(stderr, "tree: %s\n", what);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: tree IN OUT");
    FILE *in = fopen(argv[1], "rb");
    double head[6];
    if (!in || fread(head, sizeof *head, 6, in) != 6)
        fail("cannot read the header");
    Problem problem = {.rounds = (long)head[0], .arms = (int)head[1], .depth = (int)head[2], .eta = head[3]};
    const long rounds = problem.rounds;
    const int arms = problem.arms, depth = problem.depth;
    if (rounds < 1 || arms < 1 || arms > 8 || depth < 0 || depth > MAX_DEPTH)
        fail("needs T >= 1, 1 <= M <= 8, 0 <= D <= 26");

    const size_t count = (size_t)rounds * (arms + 2);
    double *data = malloc(count * sizeof *data);
    double *out = malloc(2 * rounds * sizeof *out);
    if (!data || !out || fread(data, sizeof *data, count, in) != count)
        fail("cannot read the rounds");
    fclose(in);
    memset(out, 0, 2 * rounds * sizeof *out); /* so that no page is first touched while the clock runs */
    problem.context = data;
    problem.loss = data + rounds;
    problem.uniform = data + rounds * (arms + 1);

    /* heap order: the root is row 1, the children of row n are rows 2n and 2n + 1 */
    const int width = arms <= 4 ? 4 : 8, stride = 2 * width;
    const size_t leaves = (size_t)1 << depth;
    double *nodes = aligned_alloc(64, 2 * leaves * stride * sizeof *nodes);
    if (!nodes)
        fail("out of memory");
    memset(nodes, 0, 2 * leaves * stride * sizeof *nodes);
    for (size_t n = 1; n < 2 * leaves; n++) {
        double *node = nodes + n * stride;
        for (int m = 0; m < arms; m++)
            node[m] = 1.0 / arms;
        node[width] = n < leaves ? 0.5 : 1.0;
        node[width + 1] = n < leaves ? 0.5 : 0.0;
    }

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    play_all(&problem, nodes, out, out + rounds);
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *to = fopen(argv[2], "wb");
    if (!to || fwrite(out, sizeof *out, 2 * rounds, to) != (size_t)(2 * rounds) || fclose(to))
        fail("cannot write OUT");
    const double ns = 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
    printf("ns_per_round %.3f\n", ns / (double)rounds);
    free(nodes);
    free(out);
    free(data);
    return 0;
}
