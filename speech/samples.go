package speech

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/callwright/callwright"
)

// SampleQuery selects samples.
type SampleQuery struct {
	Voice  string // id or name; empty selects all
	Limit  int    // at most MaxPage; default 20
	Offset int    // at most MaxOffset
}

// SampleList is a page of samples.
type SampleList struct {
	Samples []Sample // newest first
	Total   int      // number of samples that the query selects on all pages
}

// Samples returns the samples of an organization that match a query. The samples of a deleted voice can be selected by the voice's id.
// Samples returns CodeBadRequest with the field if Limit or Offset is invalid.
func (s *Service) Samples(ctx context.Context, org callwright.OrgID, q SampleQuery) (SampleList, error) {
	q.Limit = cmp.Or(q.Limit, 20)
	switch {
	case q.Limit < 1 || q.Limit > MaxPage:
		return SampleList{}, callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	case q.Offset < 0 || q.Offset > MaxOffset:
		return SampleList{}, callwright.Invalid("offset", "must be from 0 to %d", MaxOffset)
	}
	voice := q.Voice
	if voice != "" {
		v, err := s.Voice(ctx, org, voice)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) {
			return SampleList{}, err
		}
		if err == nil {
			voice = v.ID
		}
	}
	list, total, err := s.cfg.Samples.ListSamples(ctx, org, voice, q.Limit, q.Offset)
	return SampleList{Samples: list, Total: total}, err
}

// Sample returns a sample of an organization, or CodeNotFound if the organization has no sample with this id.
func (s *Service) Sample(ctx context.Context, org callwright.OrgID, id string) (Sample, error) {
	return s.cfg.Samples.Sample(ctx, org, id)
}

// DeleteSample deletes a sample of an organization permanently. It deletes the record and its text immediately, so that links to the sample
// become invalid. The audio is deleted soon afterwards, unless another sample of the same text shares it. DeleteSample returns CodeNotFound
// if the organization has no sample with this id.
func (s *Service) DeleteSample(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		sample, err := s.cfg.Samples.Sample(ctx, org, id)
		if err != nil {
			return err
		}
		if err := s.cfg.Samples.DeleteSample(ctx, org, id); err != nil {
			return err
		}
		return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskForgetBlob, Key: sample.Blob, Org: org})
	})
}

// Audio is the WAV file of a sample. The caller must close it.
type Audio struct {
	Sample
	io.ReadSeekCloser
}

// Audio opens the audio of a sample. It returns CodeNotFound if the organization has no sample with this id, and CodeUnavailable if the
// audio is missing in this server's storage.
func (s *Service) Audio(ctx context.Context, org callwright.OrgID, id string) (Audio, error) {
	sample, err := s.cfg.Samples.Sample(ctx, org, id)
	if err != nil {
		return Audio{}, err
	}
	file, err := s.cfg.Blobs.OpenBlob(ctx, org, sample.Blob)
	if errors.Is(err, callwright.ErrNotFound) {
		s.cfg.Logger.ErrorContext(ctx, "the audio of a sample is missing: nodes must share their storage of audio, and a restored database needs its audio",
			"org", org, "sample", id, "audio", sample.Blob)
		return Audio{}, callwright.Errorf(callwright.CodeUnavailable, "the audio of this sample is not in the storage of this server: tell its operator").Because(err)
	}
	return Audio{sample, file}, err
}
