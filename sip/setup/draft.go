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

// Directions are the directions that a set-up has.
type Directions string

// The directions.
const (
	InboundOnly  = Directions(sip.Inbound)
	OutboundOnly = Directions(sip.Outbound)
	BothWays     = Directions("both")
)

// Auth names the way in which the two sides of a trunk authenticate each other.
type Auth string

// The ways. The empty Auth is not chosen yet.
const (
	AuthNone     Auth = "none" // by address
	AuthDigest   Auth = "digest"
	AuthRegister Auth = "register"
)

// Step is a step at which a set-up can be resumed. The steps after the numbers belong to an attached trunk.
type Step string

// The steps, in order. A set-up of inbound calls skips the destination and the discovery.
const (
	StepDestination    Step = "destination"
	StepDiscovery      Step = "discovery"
	StepFirewall       Step = "firewall"
	StepAuthentication Step = "authentication"
	StepNumbers        Step = "numbers"
)

// Draft is a set-up in progress.
type Draft struct {
	ID         string
	Org        callwright.OrgID
	Directions Directions
	Step       Step   // the step to resume
	Endpoint   string // the SIP URI of the customer's server; empty: none
	Discovery  string // the id of a discovery; empty: none
	Auth       Auth
	Verify     sip.TLSVerification // of the server's certificate; empty: sip.VerifyFull
	Username   string
	Password   callwright.Secret
	Numbers    string // as they were typed
	Allowed    string // the addresses that may call, as they were typed
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64 // for the compare-and-set
}

// Inbound reports whether calls come in.
func (d Draft) Inbound() bool { return d.Directions == InboundOnly || d.Directions == BothWays }

// Outbound reports whether calls go out.
func (d Draft) Outbound() bool { return d.Directions == OutboundOnly || d.Directions == BothWays }

// Connects reports whether we connect to the customer's server.
func (d Draft) Connects() bool { return d.Outbound() || d.Auth == AuthRegister }

// Store stores drafts. Methods take part in the transaction of their context, if there is one. The password is encrypted at rest.
// Given and returned values share no memory with stored ones. Every field comes back unchanged; times are returned in UTC, exact to
// the microsecond. siptest.RunDrafts tests it.
type Store interface {
	// InsertDraft adds a draft with Version 1. CodeConflict when its ID exists, in whichever organization; CodeInvalidState when the
	// organization already has most drafts whose UpdatedAt is since or later; either of them when both hold. Of concurrent calls, on
	// any nodes, exactly as many succeed as the limit allows; the others are CodeInvalidState.
	InsertDraft(ctx context.Context, d Draft, most int, since time.Time) error
	// UpdateDraft replaces the draft whose stored Version is d.Version, and adds one to the Version. CodeConflict when the stored
	// Version differs, CodeNotFound without one.
	UpdateDraft(ctx context.Context, d Draft) error
	// Draft returns a draft; CodeNotFound when the organization has no such draft.
	Draft(ctx context.Context, org callwright.OrgID, id string) (Draft, error)
	// DraftsOf returns up to limit drafts of an organization whose UpdatedAt is since or later, the last changed first, and of equal
	// UpdatedAt the greatest ID first.
	DraftsOf(ctx context.Context, org callwright.OrgID, since time.Time, limit int) ([]Draft, error)
	// DeleteDraft deletes a draft. Without one it does nothing.
	DeleteDraft(ctx context.Context, org callwright.OrgID, id string) error
	// DeleteOldDrafts deletes up to limit drafts of all organizations whose UpdatedAt is before a time, and returns their number.
	DeleteOldDrafts(ctx context.Context, before time.Time, limit int) (int, error)
}

// The limits of drafts.
const (
	MaxDrafts  = 20                  // of an organization
	DraftsLast = 30 * 24 * time.Hour // after the last change

	maxText = 4000
	maxLine = 300
)

// The periodic work that deletes old drafts.
const (
	taskDelete  = "setup.forget"
	deleteEvery = time.Hour
	deleteBatch = 100
	maxDeleted  = 100 // batches in one run
)

// deleteOld is periodic work. It deletes drafts that were last changed DraftsLast ago, with their passwords.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for range maxDeleted {
		n, err := s.cfg.Drafts.DeleteOldDrafts(ctx, s.cfg.Clock.Now().Add(-DraftsLast), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}

// Begin begins a set-up. CodeInvalidState when the organization has MaxDrafts in progress.
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

// StoreDraft stores the changes to a draft since it was read. CodeConflict when it was changed meanwhile, CodeNotFound when it no longer
// exists.
func (s *Service) StoreDraft(ctx context.Context, d Draft) (Draft, error) {
	if err := d.check(); err != nil {
		return Draft{}, err
	}
	d.UpdatedAt = s.cfg.Clock.Now()
	err := s.cfg.Drafts.UpdateDraft(ctx, d)
	d.Version++
	return d, err
}

// Draft returns a set-up in progress. CodeNotFound when the organization has none with this id.
func (s *Service) Draft(ctx context.Context, org callwright.OrgID, id string) (Draft, error) {
	d, err := s.cfg.Drafts.Draft(ctx, org, id)
	if err == nil && d.UpdatedAt.Before(s.cfg.Clock.Now().Add(-DraftsLast)) {
		return Draft{}, callwright.NotFound("set-up")
	}
	return d, err
}

// Drafts returns the set-ups of an organization in progress, the last changed first.
func (s *Service) Drafts(ctx context.Context, org callwright.OrgID) ([]Draft, error) {
	return s.cfg.Drafts.DraftsOf(ctx, org, s.cfg.Clock.Now().Add(-DraftsLast), MaxDrafts)
}

// Discard deletes a set-up. CodeNotFound when the organization has none with this id.
func (s *Service) Discard(ctx context.Context, org callwright.OrgID, id string) error {
	if _, err := s.Draft(ctx, org, id); err != nil {
		return err
	}
	return s.cfg.Drafts.DeleteDraft(ctx, org, id)
}

// check returns an error for the first field that is invalid.
func (d Draft) check() error {
	switch {
	case !d.Inbound() && !d.Outbound():
		return callwright.Invalid("direction", "must be inbound, outbound or both")
	case !oneOf(d.Auth, "", AuthNone, AuthDigest, AuthRegister):
		return callwright.Invalid("auth", "must be none, digest or register")
	case d.Auth == AuthRegister && !d.Inbound():
		return callwright.Invalid("auth", "must not be register without inbound calls")
	case d.Auth == AuthRegister && !d.Outbound() && d.Endpoint == "":
		return callwright.Invalid("endpoint", "is required to register with a server without outbound calls")
	case !oneOf(d.Verify, "", sip.VerifyFull, sip.VerifyChain, sip.VerifyNone):
		return callwright.Invalid("verify", "must be full, chain or none")
	case !oneOf(d.Step, StepDestination, StepDiscovery, StepFirewall, StepAuthentication, StepNumbers):
		return callwright.Invalid("step", "must be a step of a set-up")
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

// Ready returns an error for the first field that must be filled in before the numbers of a draft can be attached. Without a user
// name and a password, sip.Service.Attach would make trunks that do not authenticate; without addresses, trunks that admit all
// callers, which is allowed only if anyone is true.
func (d Draft) Ready(anyone bool) error {
	switch {
	case d.Auth == AuthDigest && d.Username == "":
		return callwright.Invalid("username", "is required to authenticate by user name and password")
	case d.Auth == AuthDigest && d.Password == "":
		return callwright.Invalid("password", "is required to authenticate by user name and password")
	case d.Inbound() && oneOf(d.Auth, "", AuthNone) && d.forEverybody() && !anyone:
		return callwright.Invalid("allowed", "is required to admit calls by address, unless everybody may call")
	}
	return nil
}

// forEverybody reports whether Allowed admits all callers. The caller refuses words that are not networks.
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
