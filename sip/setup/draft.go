package setup

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Directions are the directions of the trunks that a set-up creates.
type Directions string

// The directions of a set-up.
const (
	InboundOnly  = Directions(sip.Inbound)
	OutboundOnly = Directions(sip.Outbound)
	BothWays     = Directions("both")
)

// Auth selects how the two sides of a trunk authenticate each other.
type Auth string

// The authentication methods. An empty Auth means that none is chosen yet.
const (
	AuthNone     Auth = "none" // only by address
	AuthDigest   Auth = "digest"
	AuthRegister Auth = "register"
)

// Step is a step at which a set-up can be resumed. The steps after StepNumbers concern an attached trunk, and are not stored in a Draft.
type Step string

// The steps in order. A set-up of inbound calls alone skips StepDestination and StepDiscovery.
const (
	StepDestination    Step = "destination"
	StepDiscovery      Step = "discovery"
	StepFirewall       Step = "firewall"
	StepAuthentication Step = "authentication"
	StepNumbers        Step = "numbers"
)

// Draft is a set-up of trunks in progress.
type Draft struct {
	ID         string
	Org        callwright.OrgID
	Directions Directions
	Step       Step   // step at which the set-up is resumed
	Endpoint   string // SIP URI of the customer's server; may be empty
	Discovery  string // id of a discovery; may be empty
	Auth       Auth
	Verify     sip.TLSVerification // verification of the server's certificate; empty means sip.VerifyFull
	Username   string
	Password   callwright.Secret
	Numbers    string // as the customer typed them
	Allowed    string // addresses that may call, as the customer typed them
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64 // for compare-and-set
}

// Inbound reports whether the set-up includes inbound calls.
func (d Draft) Inbound() bool { return d.Directions == InboundOnly || d.Directions == BothWays }

// Outbound reports whether the set-up includes outbound calls.
func (d Draft) Outbound() bool { return d.Directions == OutboundOnly || d.Directions == BothWays }

// Connects reports whether we connect to the customer's server.
func (d Draft) Connects() bool { return d.Outbound() || d.Auth == AuthRegister }

// Store stores drafts. Methods take part in the transaction of their context, if there is one. The password is encrypted at rest. Given and
// returned values share no memory with stored ones. Every field is returned as stored; times are in UTC with microseconds.
// siptest.RunDrafts tests it.
type Store interface {
	// InsertDraft adds a draft with Version 1. It returns CodeConflict if a draft of any organization has the same ID, and CodeInvalidState
	// if the number of the organization's drafts with an UpdatedAt at or after the time since has reached the limit most; if both apply, it
	// returns either. Of concurrent calls, on any nodes, exactly as many succeed as the limit allows; the others return CodeInvalidState.
	InsertDraft(ctx context.Context, d Draft, most int, since time.Time) error
	// UpdateDraft replaces the draft whose stored Version is d.Version, and increments the Version. It returns CodeConflict if the stored
	// Version differs, and CodeNotFound if the draft is absent.
	UpdateDraft(ctx context.Context, d Draft) error
	// Draft returns a draft, or CodeNotFound if the organization has no such draft.
	Draft(ctx context.Context, org callwright.OrgID, id string) (Draft, error)
	// DraftsOf returns at most limit drafts of an organization with an UpdatedAt at or after the time since, in descending order of
	// (UpdatedAt, ID).
	DraftsOf(ctx context.Context, org callwright.OrgID, since time.Time, limit int) ([]Draft, error)
	// DeleteDraft deletes a draft. It does nothing if the draft is absent.
	DeleteDraft(ctx context.Context, org callwright.OrgID, id string) error
	// DeleteOldDrafts deletes at most limit drafts of all organizations whose UpdatedAt is before a time. It returns how many it deleted.
	DeleteOldDrafts(ctx context.Context, before time.Time, limit int) (int, error)
}

// Limits of drafts and their texts.
const (
	MaxDrafts  = 20                  // maximum number per organization
	DraftsLast = 30 * 24 * time.Hour // time after its last change at which a draft is deleted

	maxText = 4000
	maxLine = 300
)

// The periodic task that deletes old drafts, and its limits.
const (
	taskDelete  = "setup.forget"
	deleteEvery = time.Hour
	deleteBatch = 100
	maxDeleted  = 100 // maximum number of batches per run
)

// deleteOld is periodic work. It deletes drafts, with their passwords, that were last changed more than DraftsLast ago.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for range maxDeleted {
		n, err := s.cfg.Drafts.DeleteOldDrafts(ctx, s.cfg.Clock.Now().Add(-DraftsLast), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}

// Begin creates a draft of a set-up. It returns CodeInvalidState if the organization already has MaxDrafts drafts, and CodeBadRequest if
// directions is invalid.
func (s *Service) Begin(ctx context.Context, org callwright.OrgID, directions Directions) (Draft, error) {
	now := s.cfg.Clock.Now()
	d := Draft{
		ID: "setup_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Directions: directions, Step: StepDestination,
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if !d.Outbound() {
		d.Step = StepFirewall
	}
	if err := d.check(); err != nil {
		return Draft{}, err
	}
	return d, s.cfg.Drafts.InsertDraft(ctx, d, MaxDrafts, now.Add(-DraftsLast))
}

// StoreDraft stores the changes to a draft since it was read, and returns the stored draft. It returns CodeBadRequest if a field is
// invalid, CodeConflict if the draft was changed meanwhile, and CodeNotFound if it no longer exists.
func (s *Service) StoreDraft(ctx context.Context, d Draft) (Draft, error) {
	if err := d.check(); err != nil {
		return Draft{}, err
	}
	d.UpdatedAt = s.cfg.Clock.Now()
	err := s.cfg.Drafts.UpdateDraft(ctx, d)
	d.Version++
	return d, err
}

// Draft returns a set-up in progress. It returns CodeNotFound if the organization has no such draft, or if it was last changed more than
// DraftsLast ago.
func (s *Service) Draft(ctx context.Context, org callwright.OrgID, id string) (Draft, error) {
	d, err := s.cfg.Drafts.Draft(ctx, org, id)
	if err == nil && d.UpdatedAt.Before(s.cfg.Clock.Now().Add(-DraftsLast)) {
		return Draft{}, callwright.NotFound("set-up")
	}
	return d, err
}

// Drafts returns the set-ups of an organization in progress, most recently changed first, at most MaxDrafts.
func (s *Service) Drafts(ctx context.Context, org callwright.OrgID) ([]Draft, error) {
	return s.cfg.Drafts.DraftsOf(ctx, org, s.cfg.Clock.Now().Add(-DraftsLast), MaxDrafts)
}

// Discard deletes a set-up in progress. It returns CodeNotFound if the organization has no such draft.
func (s *Service) Discard(ctx context.Context, org callwright.OrgID, id string) error {
	if _, err := s.Draft(ctx, org, id); err != nil {
		return err
	}
	return s.cfg.Drafts.DeleteDraft(ctx, org, id)
}

// check returns CodeBadRequest with the first invalid field, or nil.
func (d Draft) check() error {
	switch {
	case !d.Inbound() && !d.Outbound():
		return callwright.Invalid("direction", "must be inbound, outbound or both")
	case !oneOf(d.Auth, "", AuthNone, AuthDigest, AuthRegister):
		return callwright.Invalid("auth", "must be none, digest or register")
	case d.Auth == AuthRegister && !d.Inbound():
		return callwright.Invalid("auth", "must not be register unless the direction is inbound or both")
	case d.Auth == AuthRegister && !d.Outbound() && d.Endpoint == "":
		return callwright.Invalid("endpoint", "is required with auth register and direction inbound: it is where the number registers")
	case !oneOf(d.Verify, "", sip.VerifyFull, sip.VerifyChain, sip.VerifyNone):
		return callwright.Invalid("verify", "must be full, chain or none")
	case !oneOf(d.Step, StepDestination, StepDiscovery, StepFirewall, StepAuthentication, StepNumbers):
		return callwright.Invalid("step", "must be destination, discovery, firewall, authentication or numbers")
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{
		{"endpoint", d.Endpoint, maxLine}, {"discovery", d.Discovery, maxLine}, {"username", d.Username, maxLine},
		{"password", d.Password.Reveal(), maxLine}, {"numbers", d.Numbers, maxText}, {"allowed", d.Allowed, maxText},
	} {
		if len(text.value) > text.most {
			return callwright.Invalid(text.field, "must have at most %d bytes", text.most)
		}
	}
	return nil
}

// Ready returns CodeBadRequest with the first field that must be filled in before the numbers of a draft can be attached, or nil. Without a
// user name and a password, sip.Service.Attach would create trunks that do not authenticate. Without addresses, it would create trunks that
// admit all callers, which Ready accepts only if anyone is set.
func (d Draft) Ready(anyone bool) error {
	switch {
	case d.Auth == AuthDigest && d.Username == "":
		return callwright.Invalid("username", "is required to authenticate by user name and password")
	case d.Auth == AuthDigest && d.Password == "":
		return callwright.Invalid("password", "is required to authenticate by user name and password")
	case d.Inbound() && oneOf(d.Auth, "", AuthNone) && d.forEverybody() && !anyone:
		return callwright.Invalid("allowed", "must limit the addresses that may call, unless everybody may call")
	}
	return nil
}

// forEverybody reports whether Allowed is empty or so wide that it does not restrict callers (see sip.Everybody). It ignores words that are
// not networks, because its caller refuses them.
func (d Draft) forEverybody() bool {
	var networks []netip.Prefix
	words := strings.FieldsFunc(d.Allowed, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' })
	for _, word := range words {
		if network, err := callwright.ParseNetwork(word); err == nil {
			networks = append(networks, network)
		}
	}
	return len(words) == 0 || sip.Everybody(networks)
}

func oneOf[T comparable](value T, allowed ...T) bool { return slices.Contains(allowed, value) }
