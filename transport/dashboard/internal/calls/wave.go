package calls

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/pcm"
)

// The limits for reading a recording. If a column of a long recording has more than columnBytes, only its beginning is read.
const (
	waveColumns = 480
	columnBytes = 16 << 10 // maximum bytes that are read of a column: a quarter of a second at 16,000 Hz
	frameBytes  = 4        // 16 bits for each side
)

// wave contains the peaks of both sides of a recording over time.
type wave struct {
	Duration      time.Duration
	Caller, Agent []float64 // peaks of each column, from 0 to 1
}

// readWave returns the wave of a stereo WAV file. It reads at most waveColumns times columnBytes. It returns CodeUnsupportedMedia for other
// files and for recordings without audio.
func readWave(ctx context.Context, file io.ReadSeeker) (wave, error) {
	header, err := pcm.NewWAVReader(file)
	if err != nil {
		return wave{}, err
	}
	begin, beginErr := file.Seek(0, io.SeekCurrent)
	end, endErr := file.Seek(0, io.SeekEnd)
	if err := errors.Join(beginErr, endErr); err != nil {
		return wave{}, err
	}
	frames := (end - begin) / frameBytes
	switch {
	case header.Channels != 2:
		return wave{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the recording must have two channels, but has %d", header.Channels)
	case frames == 0:
		return wave{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the recording is empty")
	}
	w := wave{Duration: time.Duration(frames) * time.Second / time.Duration(header.Rate)}
	buffer := make([]byte, columnBytes)
	for column := range min(frames, waveColumns) {
		if err := ctx.Err(); err != nil {
			return wave{}, err
		}
		first, next := column*frames/waveColumns, (column+1)*frames/waveColumns
		if frames < waveColumns {
			first, next = column, column+1
		}
		if _, err := file.Seek(begin+first*frameBytes, io.SeekStart); err != nil {
			return wave{}, err
		}
		piece := buffer[:min(columnBytes, (next-first)*frameBytes)]
		if _, err := io.ReadFull(file, piece); err != nil {
			return wave{}, err
		}
		caller, agent := loudest(piece)
		w.Caller, w.Agent = append(w.Caller, caller), append(w.Agent, agent)
	}
	return w, nil
}

// loudest returns the peak of each side, from 0 to 1.
func loudest(frames []byte) (left, right float64) {
	var most [2]int
	for i := 0; i+frameBytes <= len(frames); i += frameBytes {
		for side := range most {
			sample := int(int16(binary.LittleEndian.Uint16(frames[i+2*side:])))
			most[side] = max(most[side], sample, -sample)
		}
	}
	return float64(most[0]) / 32768, float64(most[1]) / 32768
}

// The limits of the cache of waves.
const (
	maxWaves    = 256 // cached waves, of 8 KB each
	wavesAtOnce = 2
	waveWait    = time.Second // maximum wait before reading a recording, during which the request occupies a slot for pages
)

var errWavesBusy = errors.New("calls: too many recordings are being read")

// waves caches the waves of recordings, which do not change after their calls have ended.
type waves struct {
	calls *call.Service
	room  chan struct{}

	mu    sync.Mutex
	known map[waveKey]wave
	order []waveKey // oldest first
}

type waveKey struct {
	org callwright.OrgID
	id  string
}

func newWaves(calls *call.Service) *waves {
	return &waves{calls: calls, room: make(chan struct{}, wavesAtOnce), known: map[waveKey]wave{}}
}

// get returns the wave of a recording. It returns CodeNotFound if there is no recording, and errWavesBusy if wavesAtOnce other recordings
// are being read for longer than waveWait.
func (s *waves) get(ctx context.Context, org callwright.OrgID, id string) (wave, error) {
	key := waveKey{org, id}
	if w, ok := s.find(key); ok {
		return w, nil
	}
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	case <-time.After(waveWait):
		return wave{}, errWavesBusy
	case <-ctx.Done():
		return wave{}, ctx.Err()
	}
	if w, ok := s.find(key); ok { // another request has read it in the meantime
		return w, nil
	}
	file, err := s.calls.Recording(ctx, org, id)
	if err != nil {
		return wave{}, err
	}
	defer func() { _ = file.Close() }()
	w, err := readWave(ctx, file)
	if err == nil {
		s.store(key, w)
	}
	return w, err
}

func (s *waves) find(key waveKey) (wave, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.known[key]
	return w, ok
}

// store caches a wave. If the cache is full, it evicts the oldest wave.
func (s *waves) store(key waveKey, w wave) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == maxWaves {
		delete(s.known, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	s.known[key] = w
	s.order = append(s.order, key)
}
