package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// ErrIncomplete is returned when a gzip member ends before its end: it is
// still being written.
var ErrIncomplete = errors.New("gzip member is not complete yet")

// ErrCorrupt is returned when what a file has is not what gzip makes.
var ErrCorrupt = errors.New("not the content of a gzip file")

// IsGzip tells whether a file that begins with head is compressed.
func IsGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

// Gunzip is the decompressed content of the bytes [base, limit) of a file,
// which consist of whole gzip members, as a stream.
type Gunzip struct {
	z     *gzip.Reader
	limit int64
	pos   int64 // decompressed bytes read so far
	err   error
}

// NewGunzip starts to decompress r at base, where a member begins; limit is
// the size of the file as it is known now.
func NewGunzip(r io.ReaderAt, base, limit int64) (*Gunzip, error) {
	z, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(r, base, limit-base), 32<<10))
	if err != nil {
		if err = gunzipError(err); errors.Is(err, ErrIncomplete) && !mayBegin(r, base, limit) {
			err = fmt.Errorf("decompress: %w: %w", ErrCorrupt, gzip.ErrHeader)
		}
		return nil, err
	}
	return &Gunzip{z: z, limit: limit}, nil
}

// mayBegin tells whether the few bytes from base on may be how a member begins.
func mayBegin(r io.ReaderAt, base, limit int64) bool {
	magic := []byte{0x1f, 0x8b}
	head := make([]byte, min(limit-base, int64(len(magic))))
	n, err := ReadFull(r, head, base)
	return err != nil || bytes.HasPrefix(magic, head[:n])
}

// Pos is the number of decompressed bytes read since base.
func (g *Gunzip) Pos() int64 { return g.pos }

// Limit is the compressed position up to which Gunzip reads.
func (g *Gunzip) Limit() int64 { return g.limit }

// Read fills p as far as it can. io.EOF: all members up to the limit are read.
// ErrIncomplete: the last one is not whole.
func (g *Gunzip) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n := 0
	for n < len(p) {
		k, err := g.z.Read(p[n:])
		n += k
		if err != nil {
			g.err = gunzipError(err)
			break
		}
	}
	g.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, g.err
}

// Skip reads and forgets n bytes.
func (g *Gunzip) Skip(n int64, scratch []byte) error {
	for n > 0 {
		k, err := g.Read(scratch[:min(n, int64(len(scratch)))])
		n -= int64(k)
		if err != nil {
			return err
		}
	}
	return nil
}

// Close releases the decompressor.
func (g *Gunzip) Close() error { return g.z.Close() }

func gunzipError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrIncomplete
	case err == io.EOF:
		return io.EOF
	case isCorrupt(err):
		return fmt.Errorf("decompress: %w: %w", ErrCorrupt, err)
	default:
		return fmt.Errorf("decompress: %w", err)
	}
}

func isCorrupt(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}
