package setup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/setup"
)

// clock is a callwright.Clock whose time a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// openAt returns a service and its clock.
func openAt(t *testing.T) (*setup.Service, *clock) {
	t.Helper()
	s, at, _ := openWith(t)
	return s, at
}

// openWith returns a service, its clock, and its periodic work.
func openWith(t *testing.T) (*setup.Service, *clock, *work) {
	t.Helper()
	at := &clock{time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	c := configured(t)
	w := new(work)
	c.Clock, c.Work = at, w
	s, err := setup.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, at, w
}

// under returns the ids of an organization's drafts.
func under(t *testing.T, s *setup.Service, org callwright.OrgID) (ids []string) {
	t.Helper()
	all, err := s.Drafts(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return ids
}

func begin(t *testing.T, s *setup.Service, directions setup.Directions) setup.Draft {
	t.Helper()
	d, err := s.Begin(t.Context(), "a", directions)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDraft(t *testing.T) {
	t.Parallel()
	s, at := openAt(t)
	for directions, step := range map[setup.Directions]setup.Step{
		setup.OutboundOnly: setup.StepDestination, setup.BothWays: setup.StepDestination, setup.InboundOnly: setup.StepFirewall,
	} {
		if d := begin(t, s, directions); d.Step != step || d.Outbound() != (directions != setup.InboundOnly) || d.Inbound() != (directions != setup.OutboundOnly) {
			t.Errorf("%s begins as %+v", directions, d)
		}
	}
	at.now = at.now.Add(time.Minute)
	d := begin(t, s, setup.OutboundOnly)
	at.now = at.now.Add(time.Minute)
	read := d
	d.Step, d.Endpoint, d.Password = setup.StepNumbers, "sip:pbx.example.com", "secret"
	saved, err := s.StoreDraft(t.Context(), d)
	if got, getErr := s.Draft(t.Context(), "a", d.ID); err != nil || getErr != nil || got != saved || got.UpdatedAt != at.now || got.Password != "secret" {
		t.Errorf("got %+v, %v, %v; saved %+v", got, err, getErr, saved)
	}
	if _, err := s.StoreDraft(t.Context(), read); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a late writer got %v", err)
	}
	if ids := under(t, s, "a"); len(ids) != 4 || ids[0] != d.ID {
		t.Errorf("under way are %v", ids)
	}
	for _, org := range []callwright.OrgID{"b", "a", "a"} {
		err := s.Discard(t.Context(), org, d.ID)
		if _, readErr := s.Draft(t.Context(), org, d.ID); !errors.Is(readErr, callwright.ErrNotFound) || org == "b" && !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s: discarded with %v, read with %v", org, err, readErr)
		}
	}
	if ids := under(t, s, "a"); len(ids) != 3 {
		t.Errorf("left are %v", ids)
	}
}

func TestDraftsAreBounded(t *testing.T) {
	t.Parallel()
	s, at, work := openWith(t)
	for range setup.MaxDrafts {
		begin(t, s, setup.OutboundOnly)
	}
	if _, err := s.Begin(t.Context(), "a", setup.OutboundOnly); callwright.CodeOf(err) != callwright.CodeInvalidState {
		t.Errorf("one more gave %v", err)
	}
	if _, err := s.Begin(t.Context(), "b", setup.OutboundOnly); err != nil {
		t.Errorf("another organization's gave %v", err)
	}
	kept := under(t, s, "a")[0]
	at.now = at.now.Add(setup.DraftsLast + time.Second)
	if _, err := s.Draft(t.Context(), "a", kept); !errors.Is(err, callwright.ErrNotFound) || len(under(t, s, "a")) > 0 {
		t.Errorf("an old one is read with %v, and %v are listed", err, under(t, s, "a"))
	}
	begin(t, s, setup.OutboundOnly)
	if err := work.forget(t.Context(), callwright.Task{}, 1); err != nil {
		t.Fatal(err)
	}
	at.now = at.now.Add(-setup.DraftsLast)
	if ids := under(t, s, "a"); len(ids) != 1 {
		t.Errorf("the old ones are kept: %v", ids)
	}
}

func TestDraftRefuses(t *testing.T) {
	t.Parallel()
	s, _ := openAt(t)
	if _, err := s.Begin(t.Context(), "a", "up"); !hasField(err, "direction") {
		t.Errorf("an unknown direction gave %v", err)
	}
	for field, change := range map[string]func(*setup.Draft){
		"auth":      func(d *setup.Draft) { d.Auth = setup.AuthRegister },
		"verify":    func(d *setup.Draft) { d.Verify = "x" },
		"step":      func(d *setup.Draft) { d.Step = "x" },
		"endpoint":  func(d *setup.Draft) { d.Endpoint = strings.Repeat("x", 301) },
		"discovery": func(d *setup.Draft) { d.Discovery = strings.Repeat("x", 301) },
		"username":  func(d *setup.Draft) { d.Username = strings.Repeat("x", 301) },
		"password":  func(d *setup.Draft) { d.Password = callwright.Secret(strings.Repeat("x", 301)) },
		"numbers":   func(d *setup.Draft) { d.Numbers = strings.Repeat("x", 4001) },
		"allowed":   func(d *setup.Draft) { d.Allowed = strings.Repeat("x", 4001) },
	} {
		d := begin(t, s, setup.OutboundOnly)
		change(&d)
		if _, err := s.StoreDraft(t.Context(), d); !hasField(err, field) {
			t.Errorf("%s gave %v", field, err)
		}
	}
	d := begin(t, s, setup.BothWays)
	d.Auth = "x"
	if _, err := s.StoreDraft(t.Context(), d); !hasField(err, "auth") {
		t.Errorf("an unknown authentication gave %v", err)
	}
	d.Auth = setup.AuthRegister
	if d, err := s.StoreDraft(t.Context(), d); err != nil || !d.Connects() {
		t.Errorf("a registration gave %+v, %v", d, err)
	}
	in := begin(t, s, setup.InboundOnly)
	in.Auth = setup.AuthRegister
	if _, err := s.StoreDraft(t.Context(), in); !hasField(err, "endpoint") {
		t.Errorf("a registration without a server gave %v", err)
	}
	if text := fmt.Sprintf("%+v", setup.Draft{Password: "hunter2"}); strings.Contains(text, "hunter2") {
		t.Errorf("a draft prints its password: %s", text)
	}
}

// TestReadyForEverybody checks that Ready accepts an inbound draft without addresses if its argument is true.
func TestReadyForEverybody(t *testing.T) {
	t.Parallel()
	if err := (setup.Draft{Directions: setup.InboundOnly}).Ready(true); err != nil {
		t.Error(err)
	}
}

// hasField reports whether an error is a CodeBadRequest with the given field.
func hasField(err error, field string) bool {
	e, ok := errors.AsType[*callwright.Error](err)
	return ok && e.Code == callwright.CodeBadRequest && e.Field == field
}

// TestReady checks which field Ready requires for each authentication method.
func TestReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		draft setup.Draft
		field string // field of the error; empty if the draft is ready
	}{
		{setup.Draft{Auth: setup.AuthDigest}, "username"},
		{setup.Draft{Auth: setup.AuthDigest, Password: "secret-1"}, "username"},
		{setup.Draft{Auth: setup.AuthDigest, Username: "robin"}, "password"},
		{setup.Draft{Auth: setup.AuthDigest, Username: "robin", Password: "secret-1"}, ""},
		{setup.Draft{Auth: setup.AuthNone}, ""},
		{setup.Draft{}, ""},
		{setup.Draft{Directions: setup.InboundOnly}, "allowed"},
		{setup.Draft{Directions: setup.BothWays, Auth: setup.AuthNone, Allowed: " "}, "allowed"},
		{setup.Draft{Directions: setup.InboundOnly, Allowed: "192.0.2.1"}, ""},
		{setup.Draft{Directions: setup.InboundOnly, Allowed: "0.0.0.0/1\n128.0.0.0/1"}, "allowed"},
		{setup.Draft{Directions: setup.InboundOnly, Auth: setup.AuthRegister}, ""},
	} {
		err := c.draft.Ready(false)
		if e, _ := errors.AsType[*callwright.Error](err); err == nil && c.field != "" || err != nil && (e == nil || e.Field != c.field) {
			t.Errorf("%+v: got %v, want a fault of %q", c.draft, err, c.field)
		}
	}
}
