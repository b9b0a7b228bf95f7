package tail

import (
	"bytes"
	"io"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// A compressed file is decompressed to find out who it is: its beginning for the
// fingerprint, and as much as the frontiers need that it may continue. The
// decompressor then waits in body.gz, where the first turn goes on with it, so
// that the file is read once and not once for each of the three.

// decompressHead reads the first limit bytes of the decompressed content of b. The
// error is ErrIncomplete when the last member is not whole and there may be more
// of it.
func (b *body) decompressHead(limit int) ([]byte, error) {
	b.gz = nil
	z, err := source.NewGunzip(b.handle, 0, b.info.Size)
	if err != nil {
		return nil, ignoreEOF(err)
	}
	head, err := readStreamBeginning(z, limit)
	b.gz = &gunzip{stream: z, rest: window{buf: bytes.Clone(head)}, fresh: true}
	return head, ignoreEOF(err)
}

// frontiers makes the frontiers at offsets, which are descending, as the answers
// are in ascending order. k holds all content from the beginning on, and what
// the deepest of them covers afterwards. The error is ErrIncomplete when a
// question could not be answered because the last member is not whole.
func (k *gunzip) frontiers(offsets []int64) ([]fileid.Frontier, error) {
	answers := make([]fileid.Frontier, 0, len(offsets))
	w := &k.rest
	var err error
	for i := len(offsets) - 1; i >= 0 && err == nil; i-- {
		for w.end() < offsets[i] && err == nil {
			var n int
			room := w.space(w.end(), int(min(offsets[i]-w.end(), chunkBytes)))
			n, err = k.stream.Read(room)
			w.filled(n)
		}
		if w.end() >= offsets[i] {
			answers = append(answers, w.frontier(offsets[i]))
		}
	}
	if w.start > 0 {
		w.buf = bytes.Clone(w.buf)
	}
	if len(answers) == len(offsets) {
		return answers, nil
	}
	return answers, ignoreEOF(err)
}

// frontiersOfCompressed makes the frontiers of decompressed content in one pass
// of its own; otherwise as gunzip.frontiers.
func frontiersOfCompressed(r io.ReaderAt, size int64, offsets []int64) ([]fileid.Frontier, error) {
	z, err := source.NewGunzip(r, 0, size)
	if err != nil {
		return nil, ignoreEOF(err)
	}
	defer z.Close()
	return (&gunzip{stream: z}).frontiers(offsets)
}
