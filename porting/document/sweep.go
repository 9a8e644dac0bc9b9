package document

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// The task that deletes unused data, and its limits.
const (
	taskSweep  = "porting.documents"
	sweepEvery = 5 * time.Minute
	sweepBatch = 500            // maximum number of documents, and of blobs, per round
	blobGrace  = 24 * time.Hour // exceeds the time of an upload, because bytes are stored before their document
)

// sweep deletes old documents that no request uses, and then examines old blobs, at most sweepBatch of each: it deletes blobs without a
// document. It touches blobs that are in use, so that later rounds skip them for blobGrace. If sweep is interrupted, the next round
// continues.
func (s *Service) sweep(ctx context.Context, _ callwright.Task, _ int) error {
	now := s.cfg.Clock.Now()
	deleted, err := s.cfg.Store.DeleteUnused(ctx, now.Add(-KeepUnused), sweepBatch)
	if err != nil {
		return err
	}
	before := now.Add(-blobGrace)
	keys, err := s.cfg.Blobs.StaleBlobs(ctx, before, sweepBatch)
	if err != nil {
		return err
	}
	used, err := s.cfg.Store.HashesInUse(ctx, keys)
	if err != nil {
		return err
	}
	if err := s.cfg.Blobs.TouchBlobs(ctx, used, now); err != nil {
		return err
	}
	unused := slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(used, key) })
	if deleted+len(unused) > 0 {
		s.cfg.Logger.InfoContext(ctx, "unused documents are deleted", "documents", deleted, "blobs", len(unused))
	}
	for _, key := range unused {
		err = errors.Join(err, s.cfg.Blobs.DeleteBlob(ctx, key, before)) // a failure does not prevent the other deletions
	}
	return err
}
