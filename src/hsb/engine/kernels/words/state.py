"""Words of a state's F and I (`header.py`), which stand before those of its members."""

# Words of F: the parameters of learning, and sums over the rounds learned. The scratch at `P` follows, then the members.
RATE = 0  # of learning
GAMMA = 1  # added to every propensity (implicit exploration); 0 without
DRIFT = 2  # share of its weights that every updated node gives away (fixed share)
HEAD_DRIFT = 3  # share that the head gives away
PRICE = 4  # price of fixed share in the certificate, for each round with a loss
FLOOR = 5  # share of the decisions that is uniform (epsilon); only whole tables read it
LOST = 6  # sum of the losses
EXCESS = 7  # sum of loss + ln(Z)/rate, and of the price of sharing (`theory/schedule.py`)
MASKED = 8  # rounds with a loss in which some arms were not available
SHIFT = 9  # baseline subtracted from every loss before learning: fixed beforehand, so that it favours no mapping
SEEN = 10  # rounds learned, each counted by the call that learns it: shows whether an interrupt came before or after
LATE = 11  # rounds that the schedule adds for late feedback
UNTIL = 12  # rounds, late ones counted, after which something is due; 0: never
EXCESS_LIMIT = 13  # the excess without the price of sharing above which something is due; 0: never
DUE = 14  # 1 if something is due: set by the call that learns the round
SHARED = 15  # the part of the excess that is the price of sharing
STATE_WORDS = 16

# Words of I.
MEMBERS, ALL_ARMS, P = 0, 1, 2  # members; arms; F: scratch, a number for each arm
DIRECTORY, ENTRY = 8, 8  # I: the first member's entry, the words of an entry:
F0, F1, I0, I1, K0, K1, COUNT = 0, 1, 2, 3, 4, 5, 6  # first and end in F, in I, in a key; scratch, nodes just visited
