/* HSB on the lexicographic graph (every interval of N leaves, every cut), without logarithms: the yardstick for
 * the library's own kernel.
 *
 * build: gcc -O3 -march=native -o lexicographic_tuned lexicographic_tuned.c -lm   (no -ffast-math: sums keep their order)
 * usage: ./lexicographic_tuned IN OUT
 *
 * IN, float64:  rounds T, arms M (1..8), leaves N (1..256), eta, 0, 0; T contexts in [0,1];
 *               T*M losses in [0,1], one row a round; T uniforms in [0,1).
 * OUT, float64: T arms played, then the T probabilities they were played with.
 * Prints "ns_per_round X": the rounds only, from a fresh state; neither reading nor writing is timed.
 *
 * Everything an interval holds is divided by the product of its leaves' own weights, so that all terms of a sum
 * are on one scale and a leaf weighs 1. With L = j - i + 1 the length of i..j,
 *   share(i,j)[m] = (1/M) alpha(i,j)[m] / product of the leaves' weights,  sigma(i,j) = sum over m,
 *   w(i,j)  = [sigma(i,j) + sum over cuts s of w(i,s) w(s+1,j)] / L,
 *   q(i,j)  = reach(i,j) / (L w(i,j))
 *           = [sum over h < i of q(h,j) w(h,i-1) + sum over h > j of q(i,h) w(j+1,h)] / L,  q(0,N-1) = 1/(N w(0,N-1)),
 *   p[m]    = sum over the intervals that contain the leaf of q share[m].
 * No probability is found by subtraction. Range: shares and w stay below M^(N-1), within a double for all
 * allowed sizes. The arms of a single leaf are kept above FLOOR; a share of a wider interval that falls below
 * FLOOR becomes zero: that interval with that arm is out for good, its parts are not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOOR 1e-290
#define LANES 8 /* partial sums of a dot product */
#define BAND 8  /* rows worked on together */

/* w and wt hold the same numbers, by rows and by columns, and so do q and qt. The columns of w and q are shifted
 * by one, w(i,j) at w[i * stride + j + 1], wt(j,i) at wt[j * stride + i]: then every sum above is a dot product of
 * two rows over the same columns. Where i > j, w is zero, so a sum may run over whole blocks of LANES columns. */
typedef struct {
    int arms, leaves, stride;
    double *w, *wt, *q, *qt, *sigma, *share, *inverse;
} Graph;

typedef struct {
    long rounds;
    double eta;
    const double *context, *loss, *uniform;
} Problem;

/* sum[] += a * b over the columns from..to-1, rounded outwards to whole blocks */
static inline __attribute__((always_inline)) void
add_products(double *restrict sum, const double *restrict a, const double *restrict b, int from, int to)
{
    for (int c = from & ~(LANES - 1); c < to; c += LANES)
        for (int v = 0; v < LANES; v++)
            sum[v] += a[c + v] * b[c + v];
}

static inline double total(const double *sum)
{
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

static inline __attribute__((always_inline)) void weigh(const Graph *g, int i, int j)
{
    const size_t stride = g->stride;
    double sum[LANES] = {0};
    add_products(sum, g->w + i * stride, g->wt + j * stride, i + 1, j + 1);
    const double w = (g->sigma[i * stride + j] + total(sum)) * g->inverse[j - i + 1];
    g->w[i * stride + j + 1] = w;
    g->wt[j * stride + i] = w;
}

static inline __attribute__((always_inline)) void
visit(const Graph *g, int i, int j, double *restrict p, const int width)
{
    const size_t stride = g->stride;
    double sum[LANES] = {0}, q;
    if (i > 0)
        add_products(sum, g->qt + j * stride, g->wt + (i - 1) * stride, 0, i);
    if (j < g->leaves - 1)
        add_products(sum, g->q + i * stride, g->w + (j + 1) * stride, j + 2, g->leaves + 1);
    q = total(sum) * g->inverse[j - i + 1];
    if (i == 0 && j == g->leaves - 1)
        q = g->inverse[g->leaves] / g->w[g->leaves];
    g->q[i * stride + j + 1] = q;
    g->qt[j * stride + i] = q;
    const double *share = g->share + (i * stride + j) * width;
    for (int m = 0; m < width; m++)
        p[m] += q * share[m];
}

/* Any order does that takes an interval before those inside it (here), or after them (update). This one goes by
 * bands of rows and along the diagonals within a band: neighbours in time do not wait for each other, and the
 * rows stay in the first cache. */
static inline __attribute__((always_inline)) void
probabilities(const Graph *g, int leaf, double *restrict p, const int width)
{
    const int columns = g->leaves - leaf;
    for (int top = 0; top <= leaf; top += BAND) {
        const int rows = leaf + 1 - top < BAND ? leaf + 1 - top : BAND;
        for (int step = 0; step < columns + rows - 1; step++) {
            const int first = step < columns ? 0 : step - columns + 1, last = step < rows ? step : rows - 1;
            for (int r = first; r <= last; r++)
                visit(g, top + r, g->leaves - 1 - (step - r), p, width);
        }
    }
}

static inline __attribute__((always_inline)) void
update(const Graph *g, int leaf, int played, double x, const int width)
{
    const size_t stride = g->stride;
    const int columns = g->leaves - leaf;
    double factor[8], ratio = 0.0;
    for (int m = 0; m < width; m++)
        factor[m] = 1.0;
    factor[played] = exp(-x);
    double *own = g->share + (leaf * stride + leaf) * width;
    for (int m = 0; m < width; m++)
        ratio += own[m] * factor[m];
    for (int m = 0; m < width; m++)
        factor[m] /= ratio;

    for (int i = 0; i <= leaf; i++) {
        double *restrict share = g->share + (i * stride + leaf) * width, *restrict sigma = g->sigma + i * stride + leaf;
        for (int j = 0; j < columns; j++, share += width) {
            double new[8], sum = 0.0;
            for (int m = 0; m < width; m++) {
                new[m] = share[m] * factor[m];
                new[m] = new[m] < FLOOR ? 0.0 : new[m];
            }
            for (int m = 0; m < width; m += 4)
                sum += (new[m] + new[m + 1]) + (new[m + 2] + new[m + 3]);
            for (int m = 0; m < width; m++)
                share[m] = new[m];
            sigma[j] = sum;
        }
    }
    for (int m = 0; m < g->arms; m++)
        own[m] = own[m] < FLOOR ? FLOOR : own[m];

    for (int bottom = leaf; bottom >= 0; bottom -= BAND) {
        const int rows = bottom + 1 < BAND ? bottom + 1 : BAND;
        for (int step = 0; step < columns + rows - 1; step++) {
            const int first = step < columns ? 0 : step - columns + 1, last = step < rows ? step : rows - 1;
            for (int r = first; r <= last; r++)
                weigh(g, bottom - r, leaf + step - r);
        }
    }
}

static inline __attribute__((always_inline)) void
play(const Problem *problem, const Graph *g, double *restrict arm_out, double *restrict p_out, const int width)
{
    const int arms = g->arms, leaves = g->leaves;
    for (long t = 0; t < problem->rounds; t++) {
        int leaf = (int)(problem->context[t] * leaves);
        if (leaf > leaves - 1)
            leaf = leaves - 1;

        double p[8] = {0}, sum[8];
        probabilities(g, leaf, p, width);

        /* the first arm whose cumulative probability exceeds u * total: cumulative sums only grow, so count
         * those that do not */
        sum[0] = p[0];
        for (int m = 1; m < arms; m++)
            sum[m] = sum[m - 1] + p[m];
        const double target = problem->uniform[t] * sum[arms - 1];
        int played = 0;
        for (int m = 0; m < arms - 1; m++)
            played += sum[m] <= target;
        arm_out[t] = played;
        p_out[t] = p[played];

        const double loss = problem->loss[t * arms + played];
        if (loss != 0.0)
            update(g, leaf, played, problem->eta * loss / p[played], width);
    }
}

static void play_4(const Problem *problem, const Graph *g, double *arm_out, double *p_out)
{
    play(problem, g, arm_out, p_out, 4);
}

static void play_8(const Problem *problem, const Graph *g, double *arm_out, double *p_out)
{
    play(problem, g, arm_out, p_out, 8);
}

static void fail(const char *what)
{
    fprintf(stderr, "lexicographic: %s\n", what);
    exit(1);
}

static double *zeros(size_t count)
{
    const size_t bytes = (count * sizeof(double) + 63) / 64 * 64;
    double *block = aligned_alloc(64, bytes);
    if (!block)
        fail("out of memory");
    memset(block, 0, bytes);
    return block;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: lexicographic IN OUT");
    FILE *in = fopen(argv[1], "rb");
    double head[6];
    if (!in || fread(head, sizeof *head, 6, in) != 6)
        fail("cannot read the header");
    const long rounds = (long)head[0];
    const int arms = (int)head[1], leaves = (int)head[2];
    if (rounds < 1 || arms < 1 || arms > 8 || leaves < 1 || leaves > 256)
        fail("needs T >= 1, 1 <= M <= 8, 1 <= N <= 256");

    const size_t count = (size_t)rounds * (arms + 2);
    double *data = zeros(count), *out = zeros(2 * rounds);
    if (fread(data, sizeof *data, count, in) != count)
        fail("cannot read the rounds");
    fclose(in);
    const Problem problem = {rounds, head[3], data, data + rounds, data + rounds * (arms + 1)};

    /* whole cache lines, an odd number of them, so that a column does not fall on a few cache sets only */
    int lines = (leaves + 1 + LANES - 1) / LANES;
    lines += lines % 2 == 0;
    const size_t stride = (size_t)lines * LANES, cells = leaves * stride;
    const int width = arms <= 4 ? 4 : 8; /* the arms beyond M are kept at zero */
    Graph g = {arms, leaves, (int)stride, zeros(cells), zeros(cells), zeros(cells), zeros(cells),
               zeros(cells), zeros(cells * width), zeros(leaves + 1)};
    for (int length = 1; length <= leaves; length++)
        g.inverse[length] = 1.0 / length;
    for (size_t c = 0; c < cells; c++) {
        g.sigma[c] = 1.0;
        for (int m = 0; m < arms; m++)
            g.share[c * width + m] = 1.0 / arms;
    }
    for (int length = 1; length <= leaves; length++)
        for (int i = 0; i + length <= leaves; i++)
            weigh(&g, i, i + length - 1);

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    (width == 4 ? play_4 : play_8)(&problem, &g, out, out + rounds);
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *to = fopen(argv[2], "wb");
    if (!to || fwrite(out, sizeof *out, 2 * rounds, to) != (size_t)(2 * rounds) || fclose(to))
        fail("cannot write OUT");
    const double ns = 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
    printf("ns_per_round %.3f\n", ns / (double)rounds);
    free(g.w), free(g.wt), free(g.q), free(g.qt), free(g.sigma), free(g.share), free(g.inverse);
    free(out), free(data);
    return 0;
}
