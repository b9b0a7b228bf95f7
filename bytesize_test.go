package filelogreceiver

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestByteSizeReadsNumbersAndUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"0":                   0,
		"1000":                1000,
		"1000.9":              1000,
		"3.":                  3,
		"1kb":                 1000,
		"1KB":                 1000,
		"1kB":                 1000,
		"1kib":                1024,
		"1KiB":                1024,
		"1.1kb":               1100,
		"1.001kb":             1001,
		"4.88KiB":             4997,
		"1mib":                1 << 20,
		"2 MiB":               2 << 20,
		"16   mb":             16_000_000,
		"1GB":                 1_000_000_000,
		"1GiB":                1 << 30,
		"2TB":                 2_000_000_000_000,
		"2TiB":                2 << 40,
		"1pb":                 1_000_000_000_000_000,
		"1PiB":                1 << 50,
		"16777217":            16777217, // exact, also beyond 24 bits
		"9223372036854775807": math.MaxInt64,
	} {
		t.Run(text, func(t *testing.T) {
			var size ByteSize
			require.NoError(t, size.UnmarshalText([]byte(text)))
			assert.EqualValues(t, want, size)
		})
	}
}

func TestByteSizeRefusesWhatIsNoSize(t *testing.T) {
	for _, text := range []string{
		"", " ", " 1", "1k", "1e3", "-1", "--ii3", "3ii3", "1TOFU", "1EB", "kb", ".5kb", "1..5kb", "1,5kb", "0x10", "1b", "1ib",
		"9223372036854775808", "8193PiB", "99999999999999999999999999PB",
	} {
		t.Run(text, func(t *testing.T) {
			size := ByteSize(7)
			err := size.UnmarshalText([]byte(text))
			require.ErrorContains(t, err, "invalid byte size '"+text+"'")
			assert.EqualValues(t, 7, size, "a refused size changes nothing")
		})
	}
}
