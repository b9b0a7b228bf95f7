package checkpoint

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestFieldsEndWhereProtowireEndsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for range 200_000 {
		message := make([]byte, r.IntN(24))
		for i := range message {
			message[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				message[i] &= 0x1F // short fields and lengths are frequent
			}
		}
		at := r.IntN(len(message) + 1)
		f, ok := nextField(message, at)
		number, kind, n := protowire.ConsumeField(message[at:])
		if number > protowire.MaxValidNumber {
			n = -1
		}
		require.Equal(t, n >= 0, ok, "%x at %d", message, at)
		if !ok {
			continue
		}
		whole++
		require.Equal(t, number, f.number)
		require.Equal(t, kind, f.kind)
		require.Equal(t, at+n, f.end, "%x at %d", message, at)
		_, _, tag := protowire.ConsumeTag(message[at:])
		switch value := message[at+tag:]; kind {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			require.Equal(t, v, f.uint)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			require.Equal(t, v, f.bytes)
		}
	}
	require.Greater(t, whole, 10_000)
}
