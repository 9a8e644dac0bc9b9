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

// These bounds hold for reading a recording. Of a long one, only the beginning of each column is read.
const (
	waveColumns = 480
	columnBytes = 16 << 10 // of a column: a quarter of a second at 16,000 samples a second
	frameBytes  = 4        // 16 bits of each side
)

// wave is the loudness of both sides of a recording over time.
type wave struct {
	Duration      time.Duration
	Caller, Agent []float64 // the greatest samples of each column, from 0 to 1
}

// readWave reads a recording. It reads at most waveColumns times columnBytes.
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
	if header.Channels != 2 || frames == 0 {
		return wave{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the recording has no two sides")
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

// loudest returns the greatest sample of each side, from 0 to 1.
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

// The limits of waves.
const (
	maxWaves    = 256 // that are remembered, of 8 KB each
	wavesAtOnce = 2
	waveWait    = time.Second // for a place to read a recording in; the request holds the place of a page meanwhile
)

var errWavesBusy = errors.New("calls: too many recordings are being read")

// waves remembers the waves of recordings, which do not change once their calls have ended.
type waves struct {
	calls *call.Service
	room  chan struct{}

	mu    sync.Mutex
	known map[waveKey]wave
	order []waveKey // the oldest first
}

type waveKey struct {
	org callwright.OrgID
	id  string
}

func newWaves(calls *call.Service) *waves {
	return &waves{calls: calls, room: make(chan struct{}, wavesAtOnce), known: map[waveKey]wave{}}
}

// get returns the wave of a recording; CodeNotFound when there is no recording, and errWavesBusy when others took all places for waveWait.
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
	if w, ok := s.find(key); ok { // another reader has read it meanwhile
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

// store remembers a wave in the place of the oldest.
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
