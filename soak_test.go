package filelogreceiver

import (
	"os"
	"testing"
	"time"
)

// The long forms of the tests of the built distribution: `make soak`.

func soaking(t *testing.T) {
	t.Helper()
	if os.Getenv("FILELOG_SOAK") == "" {
		t.Skip("run it with make soak")
	}
}

func TestSoakNoLineIsLostWhenTheCollectorIsKilledAgainAndAgain(t *testing.T) {
	soaking(t)
	killEach(t, 50)
}

func TestSoakTenMinutesOfRotations(t *testing.T) {
	soaking(t)
	rotateAndAccount(t, 10*time.Minute)
}
