/* HSB on a binary tree in odds form, written plainly: the yardstick for the library's own kernel.
 *
 * build: gcc -O3 -march=native -o tree tree.c -lm
 * usage: ./tree IN OUT          (files as in tree_tuned.c)
 *
 * The formulas of the odds form as they stand, the number of arms known when it runs. Weights have a floor, so that none is lost
 * for good; otherwise nothing is done for speed beyond keeping a node together in memory. tree_tuned.c is the fast one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_ARMS 3 /* a node is then one cache line */
#define FLOOR 1e-280

typedef struct {
    double arm[MOST_ARMS], stop, go;
    double unused[3];
} Node;

static double floored(double x) { return x < FLOOR ? FLOOR : x; }

int main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    double head[6];
    if (!in || fread(head, sizeof(double), 6, in) != 6)
        return fprintf(stderr, "usage: tree IN OUT\n"), 1;
    const long rounds = (long)head[0];
    const int arms = (int)head[1], depth = (int)head[2];
    const double eta = head[3];
    if (arms < 1 || arms > MOST_ARMS || depth < 0 || depth > 26)
        return fprintf(stderr, "tree: 1 to 3 arms, depth 0 to 26\n"), 1;
    const size_t count = (size_t)rounds * (arms + 2);
    double *data = malloc(count * sizeof(double)), *out = calloc(2 * rounds, sizeof(double));
    if (!data || !out || fread(data, sizeof(double), count, in) != count)
        return fprintf(stderr, "tree: cannot read the rounds\n"), 1;
    for (long i = 0; i < 2 * rounds; i++)
        out[i] = -1; /* touch the pages before the clock runs */
    const double *contexts = data, *losses = data + rounds, *uniforms = losses + rounds * arms;

    const long leaves = 1L << depth;
    Node *nodes = aligned_alloc(64, 2 * leaves * sizeof(Node)); /* children of n: 2n and 2n + 1 */
    for (long n = 1; n < 2 * leaves; n++) {
        for (int m = 0; m < arms; m++)
            nodes[n].arm[m] = 1.0 / arms;
        nodes[n].stop = n < leaves ? 0.5 : 1.0;
        nodes[n].go = n < leaves ? 0.5 : 0.0;
    }

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long t = 0; t < rounds; t++) {
        long leaf = (long)(contexts[t] * leaves);
        leaf = leaves + (leaf < leaves ? leaf : leaves - 1);

        double p[MOST_ARMS] = {0}, reach = 1.0;
        for (int d = depth; d >= 0; d--) {
            const Node *node = &nodes[leaf >> d];
            for (int m = 0; m < arms; m++)
                p[m] += reach * node->stop * node->arm[m];
            reach *= node->go;
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
            double ratio = 1.0;
            for (int d = 0; d <= depth; d++) {
                Node *node = &nodes[leaf >> d];
                double r = 0.0;
                node->arm[played] *= f;
                for (int m = 0; m < arms; m++)
                    r += node->arm[m];
                for (int m = 0; m < arms; m++)
                    node->arm[m] = floored(node->arm[m] / r);
                node->stop *= r;
                node->go *= ratio;
                ratio = node->stop + node->go;
                node->stop = floored(node->stop / ratio);
                node->go = d == 0 ? 0.0 : floored(node->go / ratio);
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *to = fopen(argv[2], "wb");
    if (!to || fwrite(out, sizeof(double), 2 * rounds, to) != (size_t)(2 * rounds) || fclose(to))
        return fprintf(stderr, "tree: cannot write OUT\n"), 1;
    printf("ns_per_round %.3f\n", (1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec)) / (double)rounds);
    return 0;
}
