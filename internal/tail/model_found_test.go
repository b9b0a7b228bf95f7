package tail

import (
	"strings"
	"testing"
)

// TestFaultsThatRandomRunsHaveFoundDoNotComeBack replays the shortest sequences
// of steps that once lost or repeated a line.
func TestFaultsThatRandomRunsHaveFoundDoNotComeBack(t *testing.T) {
	plain := setting{fingerprint: 1000, handles: 1000, workers: 1, batch: 100}
	fewHandles, fewPerPoll, retrying := plain, plain, plain
	fewHandles.handles = 2
	fewPerPoll.perPoll = 2
	retrying.retry = true
	for _, c := range []struct {
		name    string
		setting setting
		acts    []act
	}{
		{"a held copy grows and is deleted before the next poll", plain, []act{{"create", 69, 53, 890}, {"slow copytruncate", 406, 825, 451}, {"delete", 708, 85, 225}, {"append", 616, 481, 304}, {"replace", 882, 280, 431}}},
		{"a held copy grows and is rotated before the next poll", plain, []act{{"create", 834, 242, 248}, {"create", 747, 322, 996}, {"poll", 208, 695, 561}, {"append", 929, 522, 576}, {"rotate", 101, 390, 376}}},
		{"a plain file begins like a compressed one", plain, []act{{"create", 540, 633, 658}, {"gzip", 208, 567, 523}, {"create", 127, 121, 496}, {"poll", 70, 798, 131}, {"append", 645, 847, 385}}},
		{"a file grows after it was copied and before it is truncated", plain, []act{{"create", 461, 904, 844}, {"rotate", 455, 206, 2}, {"slow copytruncate", 529, 915, 405}}},
		{"an emptied file is renamed and its successor waits for it", plain, []act{{"create", 515, 713, 634}, {"slow copytruncate", 690, 263, 100}, {"create", 814, 950, 511}, {"rename", 232, 643, 374}, {"create", 203, 452, 116}, {"gzip", 130, 726, 346}, {"poll", 564, 50, 671}, {"append", 98, 994, 917}}},
		{"a copy of a file that is truncated while its first batch is refused", retrying, []act{{"refuse", 633, 123, 86}, {"create", 645, 133, 201}, {"poll", 750, 703, 558}, {"copytruncate", 642, 134, 781}, {"poll", 82, 511, 590}}},
		{"a copy of a file that is truncated before anything of it was accepted", plain, []act{{"refuse", 919, 550, 218}, {"create", 224, 461, 22}, {"slow copytruncate", 901, 565, 921}}},
		{"a file is rewritten before anything of it was accepted, and the receiver restarted", plain, []act{{"create", 874, 543, 572}, {"refuse", 804, 130, 474}, {"poll", 971, 146, 306}, {"accept", 363, 878, 425}, {"rewrite", 459, 410, 773}, {"poll", 613, 795, 85}, {"stop", 774, 124, 204}}},
		{"a file is replaced in a poll that leaves its name out", fewPerPoll, []act{{"create", 858, 521, 406}, {"create", 841, 899, 715}, {"copytruncate", 255, 263, 448}, {"in", 994, 608, 297}, {"create", 384, 919, 690}, {"poll", 596, 93, 745}, {"poll", 395, 138, 266}, {"replace", 685, 346, 789}}},
		{"the copy of a truncated file is looked at before the file", fewPerPoll, []act{{"create", 467, 883, 826}, {"rotate", 775, 965, 101}, {"out", 643, 600, 82}, {"poll", 35, 692, 652}, {"copytruncate", 395, 697, 307}, {"create", 234, 25, 902}}},
		{"a file is opened again for a comparison after it was truncated", setting{fingerprint: 1000, handles: 2, perPoll: 2, workers: 1, batch: 100}, []act{{"create", 248, 63, 226}, {"copytruncate", 697, 115, 95}, {"poll", 549, 799, 534}, {"copytruncate", 823, 378, 381}, {"append", 468, 667, 547}}},
		{"a copy that was read behind its original is compressed while that has no name", fewPerPoll, []act{{"create", 897, 939, 475}, {"copytruncate", 702, 495, 975}, {"delete", 763, 72, 44}, {"create", 863, 782, 666}, {"block", 840, 812, 598}, {"copy", 913, 514, 267}, {"append", 938, 767, 47}, {"poll", 99, 592, 824}, {"rotate", 78, 382, 477}, {"poll", 142, 616, 920}, {"gzip", 630, 821, 175}, {"out", 161, 866, 623}}},
		{"a file is compressed that begins like one that was rewritten", plain, []act{{"create", 228, 787, 492}, {"poll", 691, 649, 412}, {"rewrite", 518, 874, 189}, {"poll", 446, 482, 196}, {"copytruncate", 843, 751, 28}, {"poll", 755, 137, 365}, {"gzip", 291, 461, 258}}},
		{"a held copy is rewritten, shorter than it was, and deleted before the next poll", plain, []act{{"create", 401, 146, 398}, {"copy", 590, 492, 593}, {"poll", 638, 350, 196}, {"out", 972, 935, 153}, {"truncate", 240, 236, 969}, {"append", 923, 894, 346}, {"delete", 667, 617, 969}}},
		{"a file is compressed while the workers that could compare the two are blocked", fewPerPoll, []act{{"create", 864, 607, 774}, {"copytruncate", 843, 751, 28}, {"gzip", 291, 461, 258}, {"in", 866, 315, 153}, {"append", 634, 218, 345}, {"poll", 717, 7, 112}, {"gzip", 602, 222, 521}, {"create", 863, 782, 666}, {"block", 840, 812, 598}, {"poll", 110, 730, 48}, {"poll", 667, 171, 394}, {"poll", 99, 592, 824}, {"poll", 142, 616, 920}, {"poll", 988, 511, 440}, {"poll", 868, 235, 323}}},
		{"a copy that is truncated while the receiver is down gets the inode of a deleted file", plain, []act{{"create", 302, 810, 931}, {"wait", 534, 563, 819}, {"copy", 53, 356, 403}, {"copytruncate", 979, 432, 842}, {"delete", 822, 211, 160}, {"poll", 711, 72, 818}, {"stop", 144, 88, 854}, {"slow copytruncate", 182, 457, 599}}},
		{"a copy outlives its original and the next content of that, which begins alike", plain, []act{{"create", 770, 945, 174}, {"replace", 194, 438, 431}, {"slow copytruncate", 277, 914, 819}, {"rewrite", 388, 354, 390}, {"rotate", 760, 685, 437}, {"delete", 201, 809, 214}}},
		{"a rewritten file takes the name of its held copy, and each waits for the other", plain, []act{{"block", 54, 1, 231}, {"create", 450, 936, 747}, {"slow copytruncate", 199, 453, 179}, {"append", 823, 691, 657}, {"rotate", 24, 597, 599}, {"poll", 999, 607, 470}}},
		{"a truncated file that begins as before leaves the pattern", setting{fingerprint: 24, handles: 1000, workers: 1, batch: 100}, []act{{"create", 299, 162, 139}, {"wait", 318, 896, 448}, {"copytruncate", 23, 478, 322}, {"rotate", 656, 596, 602}}},
		{"a short copy grows apart before its original is truncated", plain, []act{{"create", 441, 345, 253}, {"slow copytruncate", 695, 703, 795}, {"append", 829, 149, 542}}},
		{"a file whose name cannot be looked at was overwritten after it was copied", plain, []act{{"block", 293, 348, 230}, {"create", 384, 697, 379}, {"poll", 855, 136, 504}, {"rotate", 223, 508, 778}, {"slow copytruncate", 261, 62, 437}, {"deny", 126, 898, 336}, {"wait", 564, 818, 952}}},
		{"a file is emptied before anything of it was accepted, and its held copy deleted", setting{fingerprint: 1000, handles: 1000, workers: 1, batch: 100, retry: true, mutates: true}, []act{{"create", 307, 959, 976}, {"rewrite", 875, 954, 659}, {"refuse", 356, 464, 893}, {"slow copytruncate", 511, 322, 931}, {"replace", 665, 997, 334}, {"slow copytruncate", 722, 17, 357}, {"wait", 354, 999, 146}}},
		{"a copy gets the inode of a deleted file that began alike", setting{fingerprint: 24, handles: 1000, workers: 1, batch: 100}, []act{{"create", 653, 460, 369}, {"rotate", 18, 986, 673}, {"rotate", 21, 163, 653}, {"create", 975, 110, 775}, {"out", 284, 102, 177}, {"poll", 139, 472, 830}, {"delete", 456, 658, 80}, {"poll", 635, 740, 846}, {"poll", 824, 379, 535}, {"poll", 335, 486, 400}, {"slow copytruncate", 267, 133, 89}}},
		{"a compressed file that is a copy of neither of two is held for each in turn", setting{fingerprint: 1000, handles: 1000, workers: 1, batch: 3}, []act{{"create", 706, 581, 832}, {"rotate", 71, 444, 300}, {"rotate", 543, 478, 600}, {"rename", 535, 317, 252}, {"block", 457, 263, 977}, {"create", 850, 866, 144}, {"partial", 259, 962, 562}, {"create", 717, 247, 218}, {"poll", 22, 822, 496}, {"copy", 962, 553, 301}, {"gzip", 170, 739, 442}, {"truncate", 135, 201, 785}, {"in", 236, 778, 21}}},
		{"the copy of a rotated file that was truncated unread is looked at a poll after the next file", fewPerPoll, []act{{"block", 65, 820, 237}, {"create", 171, 628, 778}, {"poll", 91, 720, 618}, {"rotate", 792, 423, 341}, {"pass", 791, 616, 855}, {"rotate", 19, 750, 275}, {"copytruncate", 596, 589, 241}}},
		{"a file is compressed, and nobody may read that until its State is forgotten after a restart", plain, []act{{"create", 868, 900, 192}, {"append", 123, 482, 870}, {"poll", 831, 740, 376}, {"gzip", 31, 854, 966}, {"poll", 645, 828, 67}, {"deny", 747, 125, 371}, {"stop", 895, 153, 265}, {"start", 370, 285, 401}, {"poll", 342, 0, 775}, {"poll", 720, 311, 627}, {"poll", 231, 823, 143}, {"poll", 926, 86, 611}}},
		{"a short copy outlives its original and is compared with a compressed file that begins alike", plain, []act{{"create", 545, 21, 144}, {"gzip", 193, 646, 245}, {"create", 136, 616, 294}, {"rotate", 67, 715, 439}, {"copytruncate", 56, 192, 269}, {"poll", 822, 341, 757}, {"slow copytruncate", 75, 787, 15}}},
		{"a file is rewritten while its first batch is refused by a consumer that mutates, and its held copy deleted", setting{fingerprint: 1000, handles: 1000, workers: 1, batch: 100, retry: true, mutates: true}, []act{{"refuse", 348, 16, 785}, {"create", 956, 428, 263}, {"slow copytruncate", 887, 689, 109}, {"rename", 336, 168, 4}, {"replace", 402, 351, 731}}},
		{"the copy of a file that was truncated unread is compressed before anything is accepted", plain, []act{{"refuse", 543, 462, 618}, {"create", 787, 316, 540}, {"append", 268, 294, 733}, {"poll", 769, 916, 576}, {"copytruncate", 514, 625, 763}, {"poll", 964, 47, 433}, {"gzip", 313, 959, 73}}},
		{"a file gets the inode of one that was not open, and the name of the one that took the name of that", fewHandles, []act{{"block", 971, 105, 34}, {"create", 955, 538, 628}, {"poll", 909, 557, 818}, {"rotate", 335, 940, 34}, {"poll", 50, 944, 619}, {"create", 146, 680, 54}, {"rotate", 193, 157, 159}, {"create", 592, 64, 983}, {"rotate", 44, 262, 985}, {"poll", 691, 489, 496}, {"rotate", 164, 682, 607}}},
		{"a file is compressed that begins like one that was rewritten unread, of which there is a copy", setting{fingerprint: 16, handles: 1000, workers: 1, batch: 100, retry: true, mutates: true}, []act{{"refuse", 643, 718, 624}, {"create", 973, 262, 176}, {"replace", 722, 200, 70}, {"create", 555, 414, 295}, {"slow copytruncate", 361, 727, 411}, {"partial", 931, 454, 25}, {"rotate", 102, 62, 88}, {"gzip", 344, 644, 690}}},
		{"a held file is rewritten, copied and outgrows its copy, which was identified before it", plain, []act{{"create", 188, 213, 150}, {"rotate", 524, 908, 929}, {"rewrite", 587, 54, 930}, {"out", 613, 366, 408}, {"replace", 759, 554, 938}, {"in", 459, 267, 648}, {"slow copytruncate", 530, 917, 272}, {"copytruncate", 288, 818, 7}, {"create", 482, 909, 388}, {"slow copytruncate", 92, 266, 903}}},
		{"a compressed file has the whole content of another one, which is gone, and more", plain, []act{{"create", 404, 853, 800}, {"gzip", 779, 541, 114}, {"poll", 737, 116, 575}, {"create", 934, 974, 889}, {"create", 157, 775, 646}, {"stop", 611, 295, 703}, {"out", 680, 228, 556}, {"rewrite", 699, 953, 758}, {"gzip", 843, 908, 230}, {"out", 336, 610, 633}}},
		{"a file of two names loses the one that it was known by", fewHandles, []act{{"create", 781, 125, 257}, {"create", 924, 945, 914}, {"slow copytruncate", 286, 34, 509}, {"rotate", 813, 910, 557}}},
		{"a file takes the name of its original while it is held, and its successor waits for both", plain, []act{{"refuse", 126, 815, 792}, {"create", 862, 30, 992}, {"poll", 959, 272, 953}, {"rotate", 22, 13, 731}, {"poll", 246, 37, 237}, {"rotate", 737, 134, 960}, {"poll", 799, 629, 12}, {"rotate", 157, 148, 97}, {"poll", 825, 634, 640}}},
		{"the copy of a file of which nothing was accepted gets the inode of a deleted one that begins alike", setting{fingerprint: 24, handles: 1000, workers: 1, batch: 100}, []act{{"create", 504, 516, 506}, {"create", 607, 638, 488}, {"create", 898, 686, 697}, {"poll", 674, 771, 556}, {"rename", 93, 187, 206}, {"block", 549, 586, 561}, {"delete", 513, 199, 885}, {"append", 242, 162, 705}, {"poll", 580, 401, 123}, {"poll", 424, 490, 743}, {"poll", 842, 148, 130}, {"slow copytruncate", 29, 474, 851}}},
		{"a file is compressed that grew since it was looked at", fewPerPoll, []act{{"create", 778, 901, 290}, {"copytruncate", 406, 787, 229}, {"create", 64, 470, 863}, {"poll", 812, 550, 809}, {"partial", 594, 991, 990}, {"copytruncate", 295, 366, 385}, {"copytruncate", 71, 86, 905}, {"gzip", 485, 944, 509}, {"create", 970, 637, 530}}},
		{"a file moves out and back while nobody may open it", plain, []act{{"create", 160, 376, 421}, {"poll", 125, 168, 33}, {"deny", 554, 841, 270}, {"out", 332, 266, 258}, {"in", 283, 102, 888}, {"wait", 311, 882, 969}, {"gzip", 390, 480, 28}}},
		{"a copy takes over the State of its original while another one is held that has more", plain, []act{{"create", 148, 334, 268}, {"copy", 142, 959, 509}, {"gzip", 744, 204, 426}, {"wait", 468, 250, 342}, {"append", 898, 609, 436}, {"refuse", 310, 940, 796}, {"copy", 928, 444, 651}, {"pass", 698, 325, 880}, {"slow copytruncate", 351, 196, 944}}},
		{"a file is copied and truncated while its second batch is on its way", plain, []act{{"create", 58, 834, 952}, {"hide", 363, 852, 502}, {"rotate", 288, 466, 601}, {"pass", 261, 287, 721}, {"block", 10, 940, 539}, {"delete", 106, 544, 111}, {"create", 992, 378, 476}, {"poll", 937, 168, 204}, {"copytruncate", 188, 483, 509}, {"partial", 364, 417, 283}, {"gzip", 267, 134, 279}, {"poll", 137, 150, 823}, {"copytruncate", 591, 382, 517}, {"poll", 765, 288, 896}}},
		{"a file is compressed whose content begins as that of a compressed one, whose inode it gets", plain, []act{{"create", 397, 99, 260}, {"gzip", 770, 853, 519}, {"create", 819, 116, 973}, {"poll", 882, 963, 844}, {"delete", 770, 205, 424}, {"poll", 576, 740, 399}, {"rewrite", 880, 747, 439}, {"kill", 211, 270, 98}, {"gzip", 492, 362, 846}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if fault, trace := play(t, c.setting, c.acts); fault != "" {
				t.Errorf("%s\n  %s", fault, strings.Join(trace, "\n  "))
			}
		})
	}
}
