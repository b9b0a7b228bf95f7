package framing

import "strings"

// Framer cuts the bytes of one file at a time into records. It has one owner
// and may be used for many files, one after the other.
type Framer struct {
	*Framing
	decoder decoder // of the current file
	queued  bool    // records come from the queue and not straight from text

	feed   []byte // what was fed last
	feedAt int64  // file position of its first byte
	flush  bool   // nothing will follow feed
	next   int    // in feed: where the next token's content begins
	seen   int    // in feed: no newline is in feed[next:seen]

	// pos is behind the last token that was made. Only before the first token
	// of a file with a byte order mark does it differ from feedAt+next.
	pos Position

	// The current record.
	body  string
	start int64
	after Position // set if queued, else it is pos

	// Records straight from a text: whole lines in UTF-8.
	text   string
	textAt int64 // file position of its first byte
	line   int   // in text: where the next line begins
	sound  bool  // text holds no invalid UTF-8, or it is not asked for
	repair []byte

	// Records through the queue: all the rest.
	queue   []token
	served  int    // of queue
	scratch []byte // bodies of the tokens in queue, before they become text
	view    view
	memo    memo
	final   bool // the text that is searched ends where the file does
	states  states
}

// NewFramer makes a Framer for one worker. Call Reset before anything else.
func (f *Framing) NewFramer() *Framer {
	r := &Framer{Framing: f}
	r.decoder = newDecoder(f.charset.resolve(nil))
	r.queued = f.split != splitLines || f.charset.decodes()
	r.view.used = f.pattern != nil && f.charset.decodes()
	return r
}

// Reset turns to a file, or to another place in it, that is read from p on.
// head is the beginning of the file's content, at least four bytes if it has
// as many: the encoding utf-16 looks there for the byte order mark.
func (r *Framer) Reset(p Position, head []byte) {
	if r.charset.kind == utf16Marked {
		r.decoder = newDecoder(r.charset.resolve(head))
	}
	r.pos, r.after = p, p
	r.feed, r.feedAt, r.next, r.seen, r.flush = nil, p.Offset, 0, 0, false
	r.text, r.line = "", 0
	r.queue, r.served = r.queue[:0], 0
	r.view.clear()
	r.memo = memo{}
}

// Feed hands over the file's bytes from Position().Offset on. It is called when
// Next has returned false. Bytes that were fed before and not consumed come
// first and must be the same as before, unless Reset was called in between.
// buf is used until the next Feed or Reset and not changed. With flush, no more
// bytes will come, and the unfinished rest becomes a record.
func (r *Framer) Feed(buf []byte, flush bool) {
	consumed := r.load(buf, flush)
	if r.view.used {
		r.extendView(consumed)
	}
}

// load makes buf the bytes to work on. It returns how many of those before it
// are gone.
func (r *Framer) load(buf []byte, flush bool) (consumed int) {
	consumed = int(r.pos.Offset - r.feedAt)
	r.seen = max(r.seen-consumed, 0)
	if r.seen > len(buf) {
		r.seen = 0
	}
	r.feed, r.feedAt, r.next, r.flush = buf, r.pos.Offset, 0, flush
	r.text, r.line = "", 0
	r.queue, r.served = r.queue[:0], 0
	if r.pos.Offset == 0 && !r.pos.Skipping {
		r.passMark()
	}
	return consumed
}

// passMark puts a byte order mark at the beginning of the file aside.
func (r *Framer) passMark() {
	mark := r.decoder.mark()
	if mark == "" || len(r.feed) == 0 {
		return
	}
	begin := r.feed[:min(len(r.feed), len(mark))]
	switch {
	case string(begin) == mark:
		r.next = len(mark)
		if r.flush && r.next == len(r.feed) {
			r.pos.Offset = int64(r.next) // no token: the file holds nothing but the mark
		}
	case !r.flush && strings.HasPrefix(mark, string(begin)):
		r.feed = nil // it may become one
	}
}

// Next goes to the next record that is not empty. It returns false when the
// bytes that were fed hold no further whole record.
func (r *Framer) Next() bool {
	if r.queued {
		return r.nextQueued()
	}
	return r.nextLine()
}

// Body is the current record's text, or for the encoding nop its bytes. It
// stays valid, and keeps the text of about 64 KiB of records in memory.
func (r *Framer) Body() string { return r.body }

// Start is the position of the current record's first byte: where the token
// before it ended. Blanks that were trimmed, an omitted pattern and a byte
// order mark are not skipped.
func (r *Framer) Start() int64 { return r.start }

// Number is the number of the current record, which counts from one and counts
// empty tokens.
func (r *Framer) Number() int64 { return r.After().RecordNumber }

// After is the position behind the current record.
func (r *Framer) After() Position {
	if r.queued {
		return r.after
	}
	return r.pos
}

// Position, once Next has returned false, is behind everything that was
// consumed: records, empty tokens, and what an oversized record has too much.
// The bytes of the last Feed behind it are the unfinished record.
func (r *Framer) Position() Position { return r.pos }

// at is the file position of the next token's content.
func (r *Framer) at() int64 { return r.feedAt + int64(r.next) }

// rest is the bytes that belong to no token yet.
func (r *Framer) rest() []byte { return r.feed[r.next:] }

// consume goes n bytes ahead.
func (r *Framer) consume(n int) {
	r.next += n
	r.pos.Offset = r.at()
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
