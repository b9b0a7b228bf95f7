package framing

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchmarkFraming reads content, a whole number of records, in turns of 1 MiB
// at most.
func benchmarkFraming(b *testing.B, c Config, content []byte) {
	c.MaxLogSize = max(c.MaxLogSize, mebibyte)
	f, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	r := f.NewFramer()
	records, bytesRead := 0, 0
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(Position{}, content)
		for r.Position().Offset < int64(len(content)) {
			at := int(r.Position().Offset)
			end := min(at+mebibyte, len(content))
			r.Feed(content[at:end], end == len(content))
			for r.Next() {
				records++
				bytesRead += len(r.Body())
			}
		}
	}
	if bytesRead == 0 {
		b.Fatal("nothing was read")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}

// filled returns about size bytes of lines of length bytes each, newline included.
func filled(size, length int) []byte {
	line := strings.Repeat("abcdefghij klmnop", length/17+1)[:length-1] + "\n"
	return bytes.Repeat([]byte(line), max(size/length, 1))
}

func BenchmarkLines(b *testing.B) {
	for _, length := range []int{64, 226, 1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			benchmarkFraming(b, Config{}, filled(4<<20, length))
		})
	}
}

func BenchmarkLinesOutsideASCII(b *testing.B) {
	content := bytes.Repeat([]byte(strings.Repeat("größer 世界 ", 14)+"\n"), 1<<13)
	b.Run("valid", func(b *testing.B) { benchmarkFraming(b, Config{}, content) })
	b.Run("raw", func(b *testing.B) { benchmarkFraming(b, Config{Encoding: "utf-8-raw"}, content) })
	invalid := bytes.ReplaceAll(content, []byte("größer 世"), []byte("gr\xf6\xdfer 世"))
	b.Run("invalid", func(b *testing.B) { benchmarkFraming(b, Config{}, invalid) })
}

func BenchmarkEncodings(b *testing.B) {
	for _, encoding := range []string{"utf-16le", "iso-8859-1", "shift_jis", "nop"} {
		content := filled(1<<20, 226)
		if encoding == "utf-16le" {
			content = []byte(utf16Of(string(content), false))
		}
		b.Run(encoding, func(b *testing.B) { benchmarkFraming(b, Config{Encoding: encoding}, content) })
	}
}

func BenchmarkEntries(b *testing.B) {
	entry := "2024-05-06T07:08:09 ERROR something went wrong in the works\n" + strings.Repeat("\tat org.example.Some.method(Some.java:123)\n", 5) + "END\n"
	content := bytes.Repeat([]byte(entry), 1<<12)
	for _, c := range []Config{
		{LineStartPattern: `^\d{4}-\d{2}-\d{2}T`},
		{LineStartPattern: `\d{4}-\d{2}-\d{2}T`},
		{LineStartPattern: `\d{4}-\d{2}-\d{2}T\S+\s+ERROR`},
		{LineEndPattern: `^END$`},
		{LineEndPattern: `END\n`, OmitPattern: true},
	} {
		b.Run(c.LineStartPattern+c.LineEndPattern, func(b *testing.B) { benchmarkFraming(b, c, content) })
	}
	b.Run("utf-16le", func(b *testing.B) {
		benchmarkFraming(b, Config{Encoding: "utf-16le", LineStartPattern: `^\d{4}-\d{2}-\d{2}T`}, []byte(utf16Of(string(content), false)))
	})
}

// BenchmarkGrowingEntry feeds one entry of 900 KiB that grows by 4 KiB at a
// time: the cost of a byte must not grow with the entry.
func BenchmarkGrowingEntry(b *testing.B) {
	content := append([]byte("2024-05-06 begin\n"), filled(900<<10, 100)...)
	for _, c := range []Config{{LineStartPattern: `^\d{4}-`}, {LineStartPattern: `\d{4}-`}, {LineEndPattern: `END\n`}} {
		c.MaxLogSize = mebibyte
		b.Run(c.LineStartPattern+c.LineEndPattern, func(b *testing.B) {
			f, err := New(c)
			if err != nil {
				b.Fatal(err)
			}
			r := f.NewFramer()
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(Position{}, content)
				for end := 0; end < len(content); {
					end = min(end+4<<10, len(content))
					r.Feed(content[:end], false)
					if r.Next() {
						b.Fatal("the entry has no end")
					}
				}
			}
		})
	}
}
