package speech

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// The kinds of the durable work, and the limits of the sweep.
const (
	taskForgetBlob  = "speech.forget-audio" // Key is the name of a blob
	taskForgetVoice = "speech.forget-voice" // Key is the id of a voice
	taskSweep       = "speech.sweep"

	sweepEvery = 10 * time.Minute
	sweepBatch = 500  // samples that one transaction deletes
	sweepMost  = 5000 // samples that one sweep deletes
)

func (s *Service) handleWork() {
	s.cfg.Work.Handle(callwright.QueueUpkeep, taskForgetBlob, s.deleteBlob)
	s.cfg.Work.Handle(callwright.QueueUpkeep, taskForgetVoice, s.deleteVoice)
	s.cfg.Work.Every(callwright.QueueUpkeep, taskSweep, sweepEvery, s.sweep)
}

// deleteBlob deletes audio that no sample uses: the server died before it stored the sample, or all samples with the audio were deleted.
func (s *Service) deleteBlob(ctx context.Context, t callwright.Task, _ int) error {
	used, err := s.cfg.Samples.BlobUsed(ctx, t.Org, t.Key)
	if err != nil || used {
		return err
	}
	return s.cfg.Blobs.DeleteBlob(ctx, t.Org, t.Key)
}

// deleteVoice deletes the provider's data of a voice that has no record: the voice was deleted, or the server died before it stored the
// record. It does nothing without a Cloner.
func (s *Service) deleteVoice(ctx context.Context, t callwright.Task, _ int) error {
	if s.cfg.Cloner == nil {
		return nil
	}
	if _, err := s.cfg.Voices.Voice(ctx, t.Org, t.Key); !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	return s.cfg.Cloner.Delete(ctx, t.Org, t.Key)
}

// sweep deletes samples that are older than the retention period, and enqueues the deletion of their audio.
func (s *Service) sweep(ctx context.Context, _ callwright.Task, _ int) error {
	before := s.cfg.Clock.Now().Add(-s.cfg.KeepFor)
	for swept := 0; swept < sweepMost; {
		n := 0
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			gone, err := s.cfg.Samples.DeleteSamples(ctx, before, sweepBatch)
			if err != nil {
				return err
			}
			n = len(gone)
			seen := map[string]bool{}
			for _, sample := range gone {
				if seen[sample.Blob] {
					continue
				}
				seen[sample.Blob] = true
				if err := s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskForgetBlob, Key: sample.Blob, Org: sample.Org}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n < sweepBatch {
			return err
		}
		swept += n
	}
	return nil
}
