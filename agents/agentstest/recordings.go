package agentstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// RunRecordings tests a call.Recordings. newRecordings returns a store without recordings.
func RunRecordings(t *testing.T, newRecordings func(t *testing.T) call.Recordings) {
	t.Helper()
	tests := map[string]func(*testing.T, call.Recordings){
		"keeps what is written":                keepsRecording,
		"writes in place":                      writesInPlace,
		"reads while it writes":                readsWhileItWrites,
		"takes the place of one that was cut":  replacesRecording,
		"hides absent and foreign ones":        hidesRecordings,
		"reads from several places":            readsFromSeveralPlaces,
		"keeps recordings of calls apart":      keepsRecordingsApart,
		"takes every id that it has to":        takesEveryID,
		"never leaves its place for an odd id": staysInPlace,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRecordings(t))
		})
	}
}

// createRecording creates a recording, and closes its file at the end of the test.
func createRecording(t *testing.T, r call.Recordings, org callwright.OrgID, id string) call.RecordingFile {
	t.Helper()
	f, err := r.Create(t.Context(), org, id)
	if err != nil {
		t.Fatalf("create %s/%s: %v", org, id, err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// record creates a recording with the given content, and closes it.
func record(t *testing.T, r call.Recordings, org callwright.OrgID, id string, content []byte) {
	t.Helper()
	f := createRecording(t, r, org, id)
	if n, err := f.Write(content); err != nil || n != len(content) {
		t.Fatalf("wrote %d bytes, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantRecording(t *testing.T, r call.Recordings, org callwright.OrgID, id string, want []byte) {
	t.Helper()
	f, err := r.Open(t.Context(), org, id)
	if err != nil {
		t.Errorf("open %s/%s: %v", org, id, err)
		return
	}
	got, readErr := io.ReadAll(f)
	if err := errors.Join(readErr, f.Close()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes of %s/%s, %v; want %d", len(got), org, id, err, len(want))
	}
}

// aRecording returns 2 MiB of content, which is about as much as a minute of 16-bit stereo audio at 8000 samples per second.
func aRecording() []byte {
	content := make([]byte, 2<<20)
	for i := range content {
		content[i] = byte(i * 7 >> 3)
	}
	return content
}

func keepsRecording(t *testing.T, r call.Recordings) {
	record(t, r, "a", "c1", aRecording())
	wantRecording(t, r, "a", "c1", aRecording())
	record(t, r, "a", "empty", nil)
	wantRecording(t, r, "a", "empty", nil)
}

// writesInPlace checks writes like those of a WAV writer, which seeks back to the header and then continues at the end.
func writesInPlace(t *testing.T, r call.Recordings) {
	f := createRecording(t, r, "a", "c1")
	for _, step := range []struct {
		offset int64
		whence int
		text   string
	}{{0, io.SeekStart, "0000audio"}, {0, io.SeekStart, "0005"}, {0, io.SeekEnd, "more"}, {2, io.SeekStart, "09"}} {
		if _, err := f.Seek(step.offset, step.whence); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, step.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantRecording(t, r, "a", "c1", []byte("0009audiomore"))
}

func readsWhileItWrites(t *testing.T, r call.Recordings) {
	f := createRecording(t, r, "a", "c1")
	for _, want := range []string{"first", "firstsecond"} {
		if _, err := io.WriteString(f, want[len(want)-min(6, len(want)):]); err != nil {
			t.Fatal(err)
		}
		wantRecording(t, r, "a", "c1", []byte(want))
	}
}

func replacesRecording(t *testing.T, r call.Recordings) {
	cut := createRecording(t, r, "a", "c1")
	if _, err := io.WriteString(cut, "a long one that a crash has cut off"); err != nil {
		t.Fatal(err)
	}
	record(t, r, "a", "c1", []byte("short"))
	wantRecording(t, r, "a", "c1", []byte("short"))
}

func hidesRecordings(t *testing.T, r call.Recordings) {
	record(t, r, "a", "c1", []byte("audio"))
	for _, at := range [][2]string{{"a", "c2"}, {"b", "c1"}, {"a", ""}, {"", "c1"}} {
		if _, err := r.Open(t.Context(), callwright.OrgID(at[0]), at[1]); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("open %q/%q gave %v, want not found", at[0], at[1], err)
		}
	}
}

func readsFromSeveralPlaces(t *testing.T, r call.Recordings) {
	record(t, r, "a", "c1", []byte("0123456789"))
	f, err := r.Open(t.Context(), "a", "c1")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other, err := r.Open(t.Context(), "a", "c1")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if end, err := f.Seek(0, io.SeekEnd); err != nil || end != 10 {
		t.Errorf("the end is at %d, %v", end, err)
	}
	if _, err := f.Seek(4, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 3)
	if _, err := io.ReadFull(f, part); err != nil || string(part) != "456" {
		t.Errorf("from 4 on it read %q, %v", part, err)
	}
	if _, err := io.ReadFull(other, part); err != nil || string(part) != "012" {
		t.Errorf("the other reader read %q, %v", part, err)
	}
}

func keepsRecordingsApart(t *testing.T, r call.Recordings) {
	const calls = 8
	var writing sync.WaitGroup
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1000+i) }
	for i := range calls {
		f := createRecording(t, r, "a", fmt.Sprint("c", i))
		writing.Go(func() {
			for rest := content(i); len(rest) > 0; rest = rest[min(100, len(rest)):] {
				if _, err := f.Write(rest[:min(100, len(rest))]); err != nil {
					t.Error(err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	for i := range calls {
		wantRecording(t, r, "a", fmt.Sprint("c", i), content(i))
	}
}

func takesEveryID(t *testing.T, r call.Recordings) {
	long := string(bytes.Repeat([]byte("x"), call.MaxRecordingID))
	for i, id := range []string{"0b5c2f7e-5a0e-4f0e-9d3e-6c1f0d1a2b3c", "A_b-9", long} {
		record(t, r, callwright.OrgID(id), id, []byte{byte(i)})
		wantRecording(t, r, callwright.OrgID(id), id, []byte{byte(i)})
	}
}

// staysInPlace checks ids which could escape a careless adapter's folder. A recording with such an id must not overwrite another recording,
// and another organization must not be able to open it.
func staysInPlace(t *testing.T, r call.Recordings) {
	record(t, r, "a", "c1", []byte("audio"))
	for _, id := range []string{"../a/c1", "./c1", "c1/", "c1\x00", "..", "a/../c1", `..\a\c1`} {
		f, err := r.Create(t.Context(), "a", id)
		if err == nil {
			_, _ = io.WriteString(f, "another")
			_ = f.Close()
		}
		wantRecording(t, r, "a", "c1", []byte("audio"))
		if got, err := r.Open(t.Context(), "b", id); err == nil {
			_ = got.Close()
			t.Errorf("another organization opens %q", id)
		}
	}
}
