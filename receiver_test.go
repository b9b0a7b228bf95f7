package filelogreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesOfExistingAndNewFilesArriveOnce(t *testing.T) {
	l := newLab(t, nil)
	l.write("a.log", "l1\n").start().expect("l1")
	l.write("a.log", "l2\n").expect("l1", "l2")
	l.write("b.log", "l3\nl4\n").expect("l1", "l2", "l3", "l4")
	require.Equal(t, map[string]any{"log.file.name": "b.log"}, l.find("l4").attributes)
}

func TestPositionsSurviveARestart(t *testing.T) {
	text, bodies := lines(1, 500)
	l := newLab(t, nil).stored()
	l.write("a.log", text).start().expectInOrder(bodies...)
	l.stop()
	more, moreBodies := lines(501, 700)
	l.write("a.log", more).start().expectInOrder(append(bodies, moreBodies...)...)
}
