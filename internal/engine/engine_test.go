package engine_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func find(t *testing.T, name string, parallel int) *engine.Program {
	t.Helper()
	p, err := engine.Find("", []string{"no-such-program-here", name}, "install it", parallel)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFind(t *testing.T) {
	t.Parallel()
	if p := find(t, "sh", 1); !strings.HasSuffix(p.Path(), "/sh") {
		t.Errorf("found %q", p.Path())
	}
	_, err := engine.Find("", []string{"no-such-program-here", "nor-this"}, "install it", 1)
	if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "no-such-program-here or nor-this") || !strings.Contains(err.Error(), "install it") {
		t.Errorf("error %v", err)
	}
	if _, err := engine.Find("/no/such/program", []string{"sh"}, "", 1); err == nil {
		t.Error("the names count although a path is given")
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	sh := find(t, "sh", 0)
	dir := t.TempDir()
	out, err := sh.Run(t.Context(), dir, "-c", `pwd; printf '%s' "$0"`, "; $(id)")
	if err != nil || string(out) != dir+"\n; $(id)" {
		t.Errorf("printed %q, %v", out, err)
	}
	_, err = sh.Run(t.Context(), dir, "-c", "echo the cause >&2; exit 7")
	if callwright.CodeOf(err) != callwright.CodeUnavailable || strings.Contains(err.Error(), "the cause") || !strings.Contains(errors.Unwrap(err).Error(), "the cause") {
		t.Errorf("a failure: %v because of %v", err, errors.Unwrap(err))
	}
	if _, err := sh.Run(t.Context(), dir, "-c", "head -c 70000000 /dev/zero"); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("endless output: %v", err)
	}
}

// TestRunHidesSecrets checks that the environment of a program contains none of this process's secrets.
func TestRunHidesSecrets(t *testing.T) {
	for _, name := range []string{"CALLWRIGHT_SECRET_KEY", "CALLWRIGHT_LLM_API_KEY", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "hunter2")
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	out, err := find(t, "env", 1).Run(t.Context(), "")
	if err != nil || strings.Contains(string(out), "hunter2") {
		t.Errorf("the environment is %s, %v", out, err)
	}
	for _, needed := range []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"} {
		if !strings.Contains(string(out), needed+"\n") {
			t.Errorf("the environment lacks %s: %s", needed, out)
		}
	}
}

func TestRunIsKilledAndBounded(t *testing.T) {
	t.Parallel()
	sleep := find(t, "sleep", 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := sleep.Run(ctx, "", "600")
		ended <- err
	}()
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	// One of the two runs uses the only slot. The other one must wait until its context ends.
	if _, err := sleep.Run(waiting, "", "600"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waited and got %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("killed and got %v", err)
	}
	if _, err := sleep.Run(t.Context(), "", "0"); err != nil {
		t.Errorf("the slot is not free again: %v", err)
	}
	if _, err := sleep.Run(ctx, "", "0"); !errors.Is(err, context.Canceled) {
		t.Errorf("ran with an ended context: %v", err)
	}
}

func TestScratchLeavesNothing(t *testing.T) {
	t.Parallel()
	var kept string
	broken := errors.New("broken")
	err := engine.Scratch("test", func(dir string) error {
		kept = dir
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder %v, %v", info, err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestSilent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, " . - ?!": true, "a": false, "7": false, "$": false, "你": false} {
		if engine.Silent(text) != want {
			t.Errorf("%q silent: %v", text, !want)
		}
	}
}

func TestSpeak(t *testing.T) {
	t.Parallel()
	s := engine.Speak(t.Context(), 8000, func(context.Context) (engine.Speech, error) {
		return engine.Speech{
			Audio: pcm.Audio{Rate: 16000, Channels: 1, Samples: make([]int16, 1600)}, Marks: []tts.Mark{{From: 1, To: 3, Start: 400, End: 1601}},
		}, nil
	})
	total, err := 0, error(nil)
	for p := make([]int16, 100); err == nil; {
		var n int
		n, err = s.Read(p)
		total += n
	}
	if !errors.Is(err, io.EOF) || total != 800 {
		t.Errorf("%d samples and %v", total, err)
	}
	if marks, want := s.Marks(), []tts.Mark{{From: 1, To: 3, Start: 200, End: 800}}; !slices.Equal(marks, want) {
		t.Errorf("marks %+v, want %+v", marks, want)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(make([]int16, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed and got %v", err)
	}
}

func TestSpeakFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := engine.Speak(t.Context(), 8000, func(context.Context) (engine.Speech, error) { return engine.Speech{}, broken })
	if _, err := s.Read(make([]int16, 1)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	s = engine.Speak(t.Context(), 8000, func(context.Context) (engine.Speech, error) { return engine.Speech{Audio: pcm.Audio{Rate: 1}}, nil })
	if _, err := s.Read(make([]int16, 1)); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("no such rate: %v", err)
	}
}

func TestSpeakEndsWhileItIsMade(t *testing.T) {
	t.Parallel()
	forever := func(ctx context.Context) (engine.Speech, error) {
		<-ctx.Done()
		return engine.Speech{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := engine.Speak(ctx, 8000, forever)
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := s.Read(make([]int16, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended and it says %v", err)
	}
	s = engine.Speak(t.Context(), 8000, forever)
	time.AfterFunc(time.Millisecond, func() { _ = s.Close() })
	if _, err := s.Read(make([]int16, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it was closed and says %v", err)
	}
}

// TestSpeakWithAStubbornProducer uses a producer that ignores its context. When the context ends, Read must return immediately, and Close
// must wait for the producer.
func TestSpeakWithAStubbornProducer(t *testing.T) {
	t.Parallel()
	release, ended := make(chan struct{}), false
	ctx, cancel := context.WithCancel(t.Context())
	s := engine.Speak(ctx, 8000, func(context.Context) (engine.Speech, error) {
		<-release
		ended = true
		return engine.Speech{}, nil
	})
	cancel()
	if _, err := s.Read(make([]int16, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended and it says %v", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	if err := s.Close(); err != nil || !ended {
		t.Errorf("closed with %v while the producer runs", err)
	}
}

// TestRunKillsTheGroup cancels a script with a long-running child process, and checks that the child dies, too.
func TestRunKillsTheGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := find(t, "sh", 1).Run(ctx, dir, "-c", "sleep 600 & echo $! > pid.new; mv pid.new pid; wait")
		done <- err
	}()
	var text []byte
	for err := error(nil); len(text) == 0; text, err = os.ReadFile(filepath.Join(dir, "pid")) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			t.Fatalf("it ended by itself: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	child := "/proc/" + strings.TrimSpace(string(text)) + "/stat"
	for range 10_000 {
		stat, err := os.ReadFile(child)
		if err != nil || strings.Contains(string(stat), ") Z ") { // the process is gone or a zombie
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Error("its child still runs")
}
