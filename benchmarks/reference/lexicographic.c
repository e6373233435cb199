/* HSB on the lexicographic graph, written plainly: the yardstick for the library's own kernel.
 *
 * build: gcc -O3 -march=native -o lexicographic lexicographic.c -lm
 * usage: ./lexicographic IN OUT          (files as in tree_tuned.c, the depth replaced by the number of leaves)
 *
 * w(i..j) is kept divided by the product of its leaves' own weights, with its transpose, so that every sum is a dot product over
 * contiguous rows. Plain loops; lexicographic_tuned.c is the fast one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define AT(table, i, j) table[(size_t)(i) * leaves + (j)]

static double dot(const double *x, const double *y, long n)
{
    double sum = 0.0;
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

int main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    double head[6];
    if (!in || fread(head, sizeof(double), 6, in) != 6)
        return fprintf(stderr, "usage: lexicographic IN OUT\n"), 1;
    const long rounds = (long)head[0], leaves = (long)head[2];
    const int arms = (int)head[1];
    const double eta = head[3];
    const size_t count = (size_t)rounds * (arms + 2), square = (size_t)leaves * leaves;
    double *data = malloc(count * sizeof(double)), *out = calloc(2 * rounds, sizeof(double));
    if (arms < 1 || leaves < 1 || !data || !out || fread(data, sizeof(double), count, in) != count)
        return fprintf(stderr, "lexicographic: cannot read the rounds\n"), 1;
    const double *contexts = data, *losses = data + rounds, *uniforms = losses + rounds * arms;

    double *share = malloc(square * arms * sizeof(double)); /* (1/M) alpha[m], scaled */
    double *w = calloc(square, sizeof(double)), *wt = calloc(square, sizeof(double));
    double *q = calloc(square, sizeof(double)), *qt = calloc(square, sizeof(double)), *p = malloc(arms * sizeof(double));
    for (size_t i = 0; i < square * arms; i++)
        share[i] = 1.0 / arms;
    for (long i = 0; i < leaves; i++)
        for (long j = i; j < leaves; j++)
            AT(w, i, j) = AT(wt, j, i) = 1.0;

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long t = 0; t < rounds; t++) {
        long s = (long)(contexts[t] * leaves);
        s = s < leaves ? s : leaves - 1;

        for (int m = 0; m < arms; m++)
            p[m] = 0.0;
        for (long i = 0; i <= s; i++)
            for (long j = leaves - 1; j >= s; j--) {
                double sum = i == 0 && j == leaves - 1 ? 1.0 / AT(w, i, j) : 0.0;
                if (i > 0)
                    sum += dot(&AT(qt, j, 0), &AT(wt, i - 1, 0), i);
                if (j < leaves - 1)
                    sum += dot(&AT(q, i, j + 1), &AT(w, j + 1, j + 1), leaves - 1 - j);
                sum /= (double)(j - i + 1);
                AT(q, i, j) = AT(qt, j, i) = sum;
                for (int m = 0; m < arms; m++)
                    p[m] += sum * share[(i * leaves + j) * arms + m];
            }

        int played = 0;
        double sum = p[0];
        while (played < arms - 1 && uniforms[t] >= sum)
            sum += p[++played];
        const double loss = losses[t * arms + played];
        out[t] = played;
        out[rounds + t] = p[played];

        if (loss > 0.0) {
            const double f = exp(-eta * loss / p[played]);
            double leaf = 1.0;
            for (long i = s; i >= 0; i--)
                for (long j = s; j < leaves; j++) {
                    double *arm = &share[(i * leaves + j) * arms], mass = 0.0;
                    arm[played] *= f;
                    if (i == j) {
                        for (int m = 0; m < arms; m++)
                            mass += arm[m];
                        leaf = mass;
                    }
                    mass = 0.0;
                    for (int m = 0; m < arms; m++)
                        mass += arm[m] /= leaf;
                    if (i < j)
                        AT(w, i, j) = AT(wt, j, i) = (mass + dot(&AT(w, i, i), &AT(wt, j, i + 1), j - i)) / (double)(j - i + 1);
                }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *to = fopen(argv[2], "wb");
    if (!to || fwrite(out, sizeof(double), 2 * rounds, to) != (size_t)(2 * rounds) || fclose(to))
        return fprintf(stderr, "lexicographic: cannot write OUT\n"), 1;
    printf("ns_per_round %.3f\n", (1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec)) / (double)rounds);
    return 0;
}
