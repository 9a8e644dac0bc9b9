package call_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/pcm"
)

// lostByKill is the duration of audio that a recording may lose if the process is killed (kill -9). docs/architecture.md documents it.
const lostByKill = 200 * time.Millisecond

// disk stores one recording in memory. The field delay is the duration of each write.
type disk struct {
	call.Recordings

	mu    sync.Mutex
	delay time.Duration
	file  file
}

func (d *disk) Create(context.Context, callwright.OrgID, string) (call.RecordingFile, error) {
	return d, nil
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	delay := d.delay
	d.mu.Unlock()
	time.Sleep(delay)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.Write(p)
}

func (d *disk) Seek(offset int64, whence int) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.Seek(offset, whence)
}

func (d *disk) Close() error { return nil }

// slow sets the duration of each write.
func (d *disk) slow(delay time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.delay = delay
}

// cut returns the agent's side of the file as a kill at this moment would leave it. It checks that the header declares no more audio than
// the file contains.
func (d *disk) cut(t *testing.T) []int16 {
	t.Helper()
	d.mu.Lock()
	raw := slices.Clone(d.file.data)
	d.mu.Unlock()
	if declared := int(binary.LittleEndian.Uint32(raw[40:])); 44+declared > len(raw) || declared%4 != 0 {
		t.Fatalf("the header declares %d bytes of audio in a file of %d", declared, len(raw))
	}
	audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return audio.Channel(1)
}

// recordOn starts a call that records a long sentence of the agent on a disk.
func recordOn(t *testing.T, d *disk) (*house, call.Call, *agentstest.Phone) {
	t.Helper()
	h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Recordings = d })
	c := h.create(agents.Agent{FirstSentence: strings.Repeat("I read the whole list. ", 200), Record: true})
	return h, c, h.answered()
}

// TestRecordingSurvivesKill checks that the file of a running call always contains all audio older than 200 ms, although each write lasts
// 45 ms.
func TestRecordingSurvivesKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{delay: 45 * time.Millisecond}
		h, _, phone := recordOn(t, d)
		defer h.stop()
		for i := range 200 {
			waitFor(time.Duration(i%23) * time.Millisecond)
			before := phone.Played()
			waitFor(lostByKill)
			if kept := d.cut(t); len(kept) < len(before) || !slices.Equal(kept[:len(before)], before) {
				t.Fatalf("after %v the file has %d samples, which lack some of the %d recorded %v before", phone.Elapsed(), len(kept),
					len(before), lostByKill)
			}
		}
	})
}

// fullDisk refuses to create a recording if atOnce is set, and otherwise refuses its audio.
type fullDisk struct {
	call.Recordings
	call.RecordingFile
	atOnce bool
}

var errFull = callwright.Errorf(callwright.CodeUnavailable, "the disk for recordings is full")

func (d fullDisk) Create(context.Context, callwright.OrgID, string) (call.RecordingFile, error) {
	if d.atOnce {
		return nil, errFull
	}
	return d, nil
}

func (fullDisk) Write([]byte) (int, error)      { return 0, errFull }
func (fullDisk) Seek(int64, int) (int64, error) { return 0, nil }
func (fullDisk) Close() error                   { return nil }

// TestCallGoesOnWithoutRecording checks that a call continues if the disk is full at the beginning or later, and that its record contains
// the reason for the missing recording.
func TestCallGoesOnWithoutRecording(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Recordings = fullDisk{atOnce: atOnce} })
			defer h.stop()
			c := h.create(agents.Agent{FirstSentence: "Hello.", Record: true})
			phone := h.answered()
			waitFor(10 * time.Second)
			if len(phone.Played()) == 0 {
				t.Error("the call did not go on")
			}
			phone.Hangup()
			got, _ := h.ended(c.ID)
			if got.Status != call.StatusCompleted || got.Recorded || got.ErrorMessage != "the call was not recorded: the disk for recordings is full" {
				t.Errorf("the call ended as %s, recorded %t, %q", got.Status, got.Recorded, got.ErrorMessage)
			}
		})
	}
}

// TestFaultOfTheAudio checks that the record of a call reports that the caller's audio could not be decoded.
func TestFaultOfTheAudio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{Fault: "undecodable_audio: payload type 18"})
		defer h.stop()
		c := h.create(agents.Agent{FirstSentence: "Hello."})
		phone := h.answered()
		waitFor(3 * time.Second)
		phone.Hangup()
		got, _ := h.ended(c.ID)
		if got.Status != call.StatusCompleted || got.ErrorMessage != "undecodable_audio: payload type 18" || got.Stats.Fault != got.ErrorMessage {
			t.Errorf("the call ended as %s, %q, %+v", got.Status, got.ErrorMessage, got.Stats)
		}
	})
}

// TestRecordingStallsWithDisk checks that a call continues if one write stalls for 8 s, more than the recorder buffers. Silence must
// replace the dropped frames, so that the recording keeps its timing.
func TestRecordingStallsWithDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const stall = 8 * time.Second
		d := &disk{}
		h, c, phone := recordOn(t, d)
		defer h.stop()
		waitFor(time.Second)
		d.slow(stall)
		waitFor(20 * time.Millisecond) // until the next write has started to stall
		d.slow(0)
		from := phone.Elapsed()
		waitFor(stall)
		if went := phone.Elapsed() - from; went != stall {
			t.Errorf("the call went on for %v of the %v in which the disk stalled", went, stall)
		}
		phone.Hangup()
		h.ended(c.ID)
		played, kept := phone.Played(), d.cut(t)
		if len(kept) != len(played) {
			t.Fatalf("%d samples are recorded of %d", len(kept), len(played))
		}
		lost := 0
		for i := range played {
			if kept[i] != played[i] {
				lost++
				if kept[i] != 0 {
					t.Fatalf("sample %d is %d instead of %d or silence", i, kept[i], played[i])
				}
			}
		}
		if lost == 0 || lost > 8000*4 {
			t.Errorf("%d samples are lost", lost)
		}
	})
}
