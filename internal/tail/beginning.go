package tail

import (
	"io"
	"slices"

	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// firstRead is how much memory the beginning of a file gets that is of unknown length.
const firstRead = 4 << 10

// readBeginning reads the first limit bytes of r, or all if there are fewer. The
// memory that it takes follows what is there, not the limit: size is what the file
// was seen to have, and one that has grown since is still read up to the limit.
func readBeginning(r io.ReaderAt, limit int, size int64) ([]byte, error) {
	// One byte more than there should be: a short count says that there is no more.
	head := make([]byte, min(int64(limit), max(size, 0)+1))
	n := 0
	for {
		k, err := source.ReadFull(r, head[n:], int64(n))
		n += k
		if err != nil || n < len(head) || n == limit {
			return head[:n], err
		}
		head = slices.Grow(head, min(n, limit-n))
		head = head[:min(cap(head), limit)]
	}
}

// readStreamBeginning does so for content whose length nobody knows. Its error
// tells why there are fewer than limit bytes.
func readStreamBeginning(r io.Reader, limit int) (head []byte, err error) {
	head = make([]byte, 0, min(limit, firstRead))
	for err == nil && len(head) < limit {
		if len(head) == cap(head) {
			head = slices.Grow(head, min(len(head), limit-len(head)))
		}
		var n int
		n, err = r.Read(head[len(head):min(cap(head), limit)])
		head = head[:len(head)+n]
	}
	return head, err
}
