package monitor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
)

// recordLoop records the statuses that are due, until ctx ends. A status is due within a minute after it was recorded, and soon after the
// state of a server has changed.
func (s *Service) recordLoop(ctx context.Context) {
	s.everyLook(ctx, func() (more bool) {
		due := s.dueStatuses(ctx)
		// All nodes write in this order, because otherwise two nodes could deadlock on each other's rows.
		slices.SortFunc(due, func(a, b sip.Status) int { return strings.Compare(a.TrunkID, b.TrunkID) })
		if len(due) > 0 {
			writeAll(context.WithoutCancel(ctx), s, "statuses of trunks were not recorded", due, s.record)
		}
		return len(due) == batch
	})
}

// dueStatuses leases at most batch statuses that are due.
func (s *Service) dueStatuses(ctx context.Context) []sip.Status {
	now := s.cfg.Clock.Now()
	taking, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	due, err := s.cfg.Statuses.ClaimStatuses(taking, now, now.Add(lease), batch)
	if ctx.Err() == nil {
		s.recording.Note(ctx, s.cfg.Logger, "cannot lease trunks to record", err)
	}
	return due
}

// record stores a status with its history and its alerts, and enqueues the resulting notices. If again is set, it first reads the status
// again.
func (s *Service) record(ctx context.Context, status sip.Status, again bool) error {
	err := s.recordOnce(ctx, status, again)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil // the trunk was deleted
	}
	return err
}

func (s *Service) recordOnce(ctx context.Context, status sip.Status, again bool) error {
	if again {
		var err error
		if status, err = s.cfg.Statuses.Status(ctx, status.Org, status.TrunkID); err != nil {
			return err
		}
	}
	next := recorded(status, s.cfg.Clock.Now())
	var trunk sip.Trunk
	var told []alert.Notice
	if status.Alerting {
		var err error
		if trunk, err = s.cfg.Trunks.Trunk(ctx, status.Org, status.TrunkID); err != nil {
			return err
		}
		if next, told, err = s.alerted(ctx, trunk, status, next); err != nil {
			return err
		}
	}
	if err := s.cfg.Statuses.RecordStatus(ctx, next); err != nil {
		return err
	}
	if status.Active != next.Active {
		s.cfg.Logger.InfoContext(ctx, "a trunk's calls go to another server", "trunk_id", next.TrunkID,
			"number", next.Number, "server", next.Servers[next.Active].Server.String())
	}
	return s.announce(ctx, trunk, told)
}

// alerted returns a recorded status with its evaluated alerts, and the notices to send.
func (s *Service) alerted(ctx context.Context, t sip.Trunk, before, next sip.Status) (sip.Status, []alert.Notice, error) {
	var told []alert.Notice
	var err error
	if next.Alerts, told, err = s.evaluate(ctx, t, before, next); err != nil {
		return next, nil, err
	}
	next.Group = groupOf(t, next)
	if t.Alerts != nil {
		if at, ok := t.Alerts.Due(next.Alerts); ok && at.Before(next.ProbeAt) {
			next.ProbeAt = at
		}
	}
	told, err = s.dedupe(ctx, next, told)
	return next, told, err
}

// dedupe removes the notices about servers that another trunk of the group sends. Within a group, the trunk with the lowest id sends them,
// with the number of other trunks concerned.
func (s *Service) dedupe(ctx context.Context, status sip.Status, told []alert.Notice) ([]alert.Notice, error) {
	ofServers := func(n alert.Notice) bool { return n.Kind != alert.FailureRate }
	if status.Group == "" || !slices.ContainsFunc(told, ofServers) {
		return told, nil
	}
	first, count, err := s.cfg.Statuses.Group(ctx, status.Org, status.Group)
	if err != nil {
		return nil, err
	}
	if first != "" && first < status.TrunkID { // first may be empty or greater, because the status may be new to the group
		return slices.DeleteFunc(told, ofServers), nil
	}
	for i := range told {
		if ofServers(told[i]) {
			told[i].Others = max(count-1, 0)
		}
	}
	return told, nil
}

// groupOf returns the Status.Group of a trunk. Trunks of an organization with the same servers, verification, failback and alerts have the
// same group, and share one notice about the servers. groupOf returns "" for a trunk without servers or without enabled alerts.
func groupOf(t sip.Trunk, status sip.Status) string {
	if t.Alerts == nil || !t.Alerts.Enabled || len(status.Servers) == 0 {
		return ""
	}
	same := sha256.New()
	for _, server := range status.Servers {
		fmt.Fprintf(same, "%q ", sip.ServerKey(status.Verify, server.Server))
	}
	fmt.Fprintf(same, "%s %+v %+v", status.Failback, t.Alerts.Thresholds, t.Alerts.Channels)
	return hex.EncodeToString(same.Sum(nil)[:16])
}
