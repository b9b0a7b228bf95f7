package filelogreceiver

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// J1, J32
func TestAFileMayBeRenamedWhileItIsRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.write("a.log", "l1\n").start().expect("l1")
	l.rename("a.log", "b.log").expect("l1")
	l.write("b.log", "l2\n").expectInOrder("l1", "l2")
	require.Equal(t, []string{"l2"}, l.fromFile("b.log"))
}

// J2, J20
func TestAFileThatLeftThePatternIsReadOn(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.keys["include"] = []any{l.path("*.log")}
	l.write("a.log", "l1\n").start().expect("l1")
	l.rename("a.log", "old/a").write("old/a", "l2\n").await(2)
	l.still() // far more than the three polls of upstream
	l.write("old/a", "l3\n").expectInOrder("l1", "l2", "l3")
	require.Equal(t, []string{"l1", "l2", "l3"}, l.fromFile("a.log"))
}

// J3, J4
func TestTheRotatedFileIsReadBeforeTheNewOne(t *testing.T) {
	for _, place := range []string{"a.old", "elsewhere/a.log1"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			l.keys["include"] = []any{l.path("*.log1")}
			l.write("a.log1", "1\n").start().await(1)
			l.write("a.log1", "2\n").rename("a.log1", place).write("a.log1", "4\n5\n")
			l.expectInOrder("1", "2", "4", "5")
			require.Equal(t, "a.log1", l.find("2").attributes["log.file.name"])
		})
	}
}

// J5
func TestACopyOutOfThePatternAndATruncation(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.keys["include"] = []any{l.path("*.log1")}
	l.write("a.log1", "line 1\n").start().await(1)
	l.write("a.log1", "line 2\n").await(2)
	l.copyFile("a.log1", "a.log2").truncate("a.log1", 0).write("a.log1", "4\n5\n")
	l.expectInOrder("line 1", "line 2", "4", "5")
}

// J6
func TestACopyInThePatternAndATruncation(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.write("a.log", "line 1\nline 2\n").start().await(2)
	l.copyFile("a.log", "b.log").truncate("a.log", 0).write("b.log", "line 3\n").write("a.log", "line 4\n")
	l.expect("line 1", "line 2", "line 3", "line 4")
}

func TestACopyGoesOnForATruncatedFileHoweverLateThatIsWritten(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	text, bodies := lines(1, 100)
	l.write("a.log", text).start().expectInOrder(bodies...)
	l.copyFile("a.log", "b.log").truncate("a.log", 0).expectInOrder(bodies...)
	l.write("a.log", "new\n").expectInOrder(append(bodies, "new")...)
	require.Equal(t, []string{"new"}, l.fromFile("a.log")[100:])
}

// J7, J17
func TestATruncatedFileIsReadFromWhereItsContentIsNew(t *testing.T) {
	t.Run("to nothing", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.write("a.log", "1\n2\n").start().await(2)
		l.truncate("a.log", 0).write("a.log", "3\n").expectInOrder("1", "2", "3")
	})
	t.Run("and grown beyond the position before anybody looked", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.write("a.log", "1\n2\n").start().await(2)
		text, bodies := lines(1, 100)
		f, err := os.OpenFile(l.path("a.log"), os.O_WRONLY|os.O_TRUNC, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		l.expectInOrder(append([]string{"1", "2"}, bodies...)...)
	})
	t.Run("to a beginning of itself that is too short to be sure of", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		l.write("a.log", "aaa\nbbb\n").start().await(2)
		l.truncate("a.log", 4).await(3)
		l.write("a.log", "ccc\n").expectInOrder("aaa", "bbb", "aaa", "ccc")
	})
	t.Run("to a beginning of itself that is known", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil)
		text, bodies := lines(1, 1000)
		l.write("a.log", text).start().await(1000)
		more, moreBodies := lines(1001, 1100)
		l.write("a.log", more).await(1100)
		l.truncate("a.log", int64(len(text)+len(more)/2)).polls().write("a.log", "ccc\n").await(1101)
		l.still()
		missing, _ := difference(append(append(bodies, moreBodies...), "ccc"), l.sink.bodies())
		require.Empty(t, missing)
		require.Less(t, l.sink.count(), 1101+600, "about 4 KiB may come again")
	})
}

// J8, J9
func TestNoLineIsLostOrRepeatedByRotation(t *testing.T) {
	for name, rotate := range map[string]func(l *lab, file, backup string){
		"by moving": func(l *lab, file, backup string) { l.rename(file, backup) },
		"by copying and truncating": func(l *lab, file, backup string) {
			l.polls() // what is not read when the file is cut is gone
			l.copyFile(file, backup).truncate(file, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil).start()
			var want []string
			for generation := range 4 {
				for file := range 3 {
					name := fmt.Sprintf("file%d.log", file)
					for line := range 100 {
						want = append(want, fmt.Sprintf("file %d generation %d line %d", file, generation, line))
						l.write(name, want[len(want)-1]+"\n")
					}
				}
				if generation == 3 {
					break
				}
				l.await(len(want))
				for file := range 3 {
					rotate(l, fmt.Sprintf("file%d.log", file), fmt.Sprintf("file%d.log.%d", file, generation))
				}
			}
			l.expect(want...)
		})
	}
}

// J10
func TestRotationWithOperatorsAndADeletedBackup(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"operators": []any{
		map[string]any{"type": "regex_parser", "regex": `^(?P<word>\w+) (?P<number>\d+)$`},
	}}).start()
	for i := range 300 {
		l.write("a.log", fmt.Sprintf("line %06d\n", i))
		if i%100 == 99 {
			l.rename("a.log", fmt.Sprintf("a.log.%d", i/100))
			if i/100 == 1 {
				l.await(150)
				l.remove("a.log.0")
			}
		}
	}
	l.await(300)
	l.still()
	require.Equal(t, 300, l.sink.count())
	require.Equal(t, "000299", l.find("line 000299").attributes["number"])
}

// J11
func TestRotationWhileStopped(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil).stored()
	l.keys["include"] = []any{l.path("*")}
	line := func(n int) string { return strings.Repeat("x", n) }
	l.write("a.log", line(1001)+"\n").start().await(1)
	l.stop()
	l.write("a.log", line(1002)+"\n").rename("a.log", "a.log.1").write("a.log", "a"+line(1003)+"\n")
	l.start().expect(line(1001), line(1002), "a"+line(1003))
}

// J21 to J24
func TestOnTruncateSaysWhereToGoOn(t *testing.T) {
	prefix := strings.Repeat("p", 40)
	body := func(name string) string { return prefix + " " + name }
	for _, restart := range []bool{false, true} {
		for mode, want := range map[string]struct{ truncated, behind []string }{
			"ignore":          {nil, nil},
			"read_whole_file": {[]string{body("1")}, []string{body("1"), body("9")}},
			"read_new":        {nil, []string{body("9")}},
		} {
			t.Run(fmt.Sprintf("%s, restart %t", mode, restart), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, map[string]any{"on_truncate": mode, "fingerprint_size": 40})
				if restart {
					l.stored()
				}
				l.write("a.log", body("1")+"\n"+body("2")+"\n"+body("3")+"\n").start().await(3)
				l.forgetAcross(restart, func() { l.truncate("a.log", int64(len(body("1"))+1)) })
				l.await(len(want.truncated))
				l.still()
				require.Equal(t, want.truncated, l.sink.bodies())
				l.write("a.log", body("9")+"\n").expectInOrder(want.behind...)
				if mode == "ignore" {
					// It goes on at the old position when the file is longer again.
					l.write("a.log", body("8")+"\n"+body("7")+"\n").expectInOrder(body("7"))
				}
			})
		}
	}
}

// Upstream knows a file by its beginning: other content is another file.
func TestToIgnoreATruncationIsNotToIgnoreOtherContent(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"on_truncate": "ignore"})
	l.write("a.log", "1\n2\n").start().await(2)
	l.truncate("a.log", 0).polls().write("a.log", "3\n").expectInOrder("1", "2", "3")
}

// What is left of the file begins as the fingerprint does; what comes then does not.
func TestToIgnoreATruncationIsNotToIgnoreWhatWasWrittenBeforeTheOldPosition(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]any{"on_truncate": "ignore"}).stored()
			l.write("a.log", "1\n2\n3\n").start().await(3)
			l.truncate("a.log", 2).polls()
			l.forgetAcross(restart, func() { l.write("a.log", "4\n5\n6\n") })
			l.expect("1", "4", "5", "6")
		})
	}
}

// forgetAcross does something while the receiver is stopped, or while it runs.
func (l *lab) forgetAcross(restart bool, do func()) {
	if restart {
		l.stop().forget()
		do()
		l.start()
		return
	}
	l.forget()
	do()
}

// J25
func TestATruncationThatLeavesTheFingerprintAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"on_truncate": "read_whole_file"}).stored()
	line := strings.Repeat("x", 1023)
	l.write("a.log", strings.Repeat(line+"\n", 20)).start().await(20)
	l.stop().forget().truncate("a.log", 10*1024).start().await(10)
	l.still()
	require.Equal(t, 10, l.sink.count())
}

func TestADeletedFileIsReadToItsEndAndClosed(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"force_flush_period": "50ms"})
	gate := make(chan struct{})
	l.sink.setAnswer(waitFor(gate))
	text, bodies := lines(1, 500)
	l.write("a.log", text+"rest").start().polls().remove("a.log").polls()
	time.Sleep(600 * time.Millisecond) // as long as a deleted file is kept that nobody waits for, and longer
	close(gate)
	l.expectInOrder(append(bodies, "rest")...)
	require.Eventually(t, func() bool { return openFiles(t, l.dir) == 0 }, waitLimit, 10*time.Millisecond)
}
