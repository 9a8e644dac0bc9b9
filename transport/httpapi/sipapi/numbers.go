package sipapi

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// GetSipConfiguration serves GET /v1/sip. It returns the trunks of a number, with null for a direction that has no trunk.
func (a *api) GetSipConfiguration(
	ctx context.Context, params oas.GetSipConfigurationParams,
) (*oas.SipConfigurationReply, error) {
	record, err := a.cfg.Trunks.Get(ctx, httpapi.Org(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	return &oas.SipConfigurationReply{
		Data: oas.SipConfigurationPair{Inbound: trunkOrNull(record.Inbound), Outbound: trunkOrNull(record.Outbound)},
	}, nil
}

// AttachSipNumbers serves POST /v1/sip/attach. It attaches numbers to trunks, and reports the numbers that fail.
func (a *api) AttachSipNumbers(
	ctx context.Context, req *oas.SipAttach, _ oas.AttachSipNumbersParams,
) (*oas.SipAttachReply, error) {
	flat, err := liftDirection(req)
	if err != nil {
		return nil, err
	}
	attachment, err := attachmentOf(req)
	if err != nil {
		return nil, flat(err)
	}
	done, err := a.cfg.Trunks.Attach(ctx, httpapi.Org(ctx), attachment)
	if err != nil {
		for i, d := range req.Directions {
			err = asGiven(directionPath(i), d, err)
		}
		return nil, flat(err)
	}
	result := oas.SipAttachResult{
		Configured: make([]string, len(done.Configured)), Failed: make([]oas.SipAttachFailure, len(done.Failed)),
		RegisterPasswordForPbx: wire.OptText(done.Password.Reveal()),
	}
	for i, number := range done.Configured {
		result.Configured[i] = number.String()
		httpapi.LogID(ctx, "phone_number", number.String())
	}
	for i, failed := range done.Failed {
		code, path, text := httpapi.Explain(failed.Err)
		if path != "" {
			text = path + ": " + text
		}
		result.Failed[i] = oas.SipAttachFailure{
			PhoneNumber: failed.Number, Error: string(code), Message: text,
		}
		if failed.Unproven {
			result.Failed[i].ProofRequired = oas.NewOptBool(true)
		}
	}
	return &oas.SipAttachReply{Data: result}, nil
}

// liftDirection converts a body with a single direction to a list of directions. It returns CodeBadRequest if the body contains both forms
// or neither. asGiven renames the fields of errors to the fields of the body.
func liftDirection(req *oas.SipAttach) (asGiven func(error) error, err error) {
	settings := oas.SipDirectionInput{
		Type: req.Direction.Value, SipEndpoint: req.SipEndpoint, AuthMode: req.AuthMode, RegisterAuth: req.RegisterAuth,
		Headers: req.Headers, Options: req.Options,
	}
	given := req.SipEndpoint.Set || req.AuthMode.Set || req.RegisterAuth.Set || req.Headers.Set && !req.Headers.Null || req.Options.Set
	switch {
	case req.Direction.Set == (req.Directions != nil):
		return nil, callwright.Invalid("directions", "exactly one of direction and directions is required")
	case given && !req.Direction.Set:
		return nil, callwright.Invalid("direction", "is required with sip_endpoint, auth_mode, register_auth, headers and options: with directions, set these in each direction")
	case !req.Direction.Set:
		return func(err error) error { return err }, nil
	}
	req.Directions = []oas.SipDirectionInput{settings}
	return func(err error) error {
		if e, ok := errors.AsType[*callwright.Error](err); ok {
			placed := *e
			placed.Field = strings.TrimPrefix(e.Field, directionPath(0)+".")
			if placed.Field == "type" {
				placed.Field = "direction"
			}
			return &placed
		}
		return err
	}, nil
}

// attachmentOf translates the body of AttachSipNumbers.
func attachmentOf(req *oas.SipAttach) (sip.Attachment, error) {
	if req.PhoneNumber.Set == (req.PhoneNumbers != nil) {
		return sip.Attachment{}, callwright.Invalid("phone_numbers", "exactly one of phone_number and phone_numbers is required")
	}
	a := sip.Attachment{Numbers: req.PhoneNumbers}
	if number, ok := req.PhoneNumber.Get(); ok {
		a.Numbers = []string{number}
	}
	for i, d := range req.Directions {
		direction, err := directionOf(d)
		if err != nil {
			return sip.Attachment{}, wire.Below(directionPath(i), err)
		}
		a.Directions = append(a.Directions, direction)
	}
	return a, nil
}

func directionPath(i int) string { return "directions[" + strconv.Itoa(i) + "]" }

// UpdateSipNumber serves POST /v1/sip/update. It changes the trunk of one direction of a number.
func (a *api) UpdateSipNumber(
	ctx context.Context, req *oas.SipUpdate,
) (*oas.SipUpdateReply, error) {
	const path = "updates"
	input, invalid := directionOf(req.Updates)
	if invalid != nil {
		return nil, wire.Below(path, invalid)
	}
	updated, err := a.cfg.Trunks.Update(ctx, httpapi.Org(ctx), req.PhoneNumber, input)
	if err != nil {
		return nil, asGiven(path, req.Updates, err)
	}
	httpapi.LogID(ctx, "trunk_id", updated.Trunk.ID)
	httpapi.LogID(ctx, "phone_number", updated.Trunk.Number.String())
	result := oas.SipUpdateResult{RegisterPasswordForPbx: wire.OptText(updated.Password.Reveal())}
	if record := oas.NewOptSipConfiguration(trunk(updated.Trunk)); updated.Trunk.Direction == sip.Inbound {
		result.Inbound = record
	} else {
		result.Outbound = record
	}
	return &oas.SipUpdateReply{Data: result}, nil
}

// DetachSipNumber serves POST /v1/sip/detach. It deletes the trunks of the given directions of a number.
func (a *api) DetachSipNumber(
	ctx context.Context, req *oas.SipDetach,
) (*oas.SipDetachReply, error) {
	if req.Direction.Set == (req.Directions != nil) {
		return nil, callwright.Invalid("directions", "exactly one of direction and directions is required")
	}
	if one, ok := req.Direction.Get(); ok {
		req.Directions = []oas.SipDirectionReference{{Type: one}}
	}
	directions := make([]sip.Direction, len(req.Directions))
	detached := make([]oas.SipDirection, len(req.Directions))
	for i, d := range req.Directions {
		directions[i], detached[i] = sip.Direction(d.Type), d.Type
	}
	number, err := a.cfg.Trunks.Detach(ctx, httpapi.Org(ctx), req.PhoneNumber, directions)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "phone_number", number.String())
	return &oas.SipDetachReply{
		Data: oas.SipDetachResult{PhoneNumber: number.String(), Detached: detached},
	}, nil
}

// ListSipNumbers serves GET /v1/sip/numbers. It returns all attached numbers.
func (a *api) ListSipNumbers(ctx context.Context) (*oas.SipNumberListReply, error) {
	numbers, err := a.cfg.Trunks.Numbers(ctx, httpapi.Org(ctx))
	if err != nil {
		return nil, err
	}
	list := oas.SipNumberList{Numbers: make([]oas.SipNumber, len(numbers))}
	for i, n := range numbers {
		list.Numbers[i] = oas.SipNumber{
			PhoneNumber: n.Number.String(), Directions: make([]oas.SipDirection, len(n.Directions)),
			SipEndpoint: wire.NilText(n.Endpoint), HealthStatus: oas.SipHealthStatus(n.Health.Public()),
		}
		for j, d := range n.Directions {
			list.Numbers[i].Directions[j] = oas.SipDirection(d)
			list.Numbers[i].Direction.SetTo(oas.SipNumberDirection(d))
		}
		if len(n.Directions) > 1 {
			list.Numbers[i].Direction.SetTo(oas.SipNumberDirectionBoth)
		}
		list.Numbers[i].Status.SetTo(list.Numbers[i].HealthStatus)
	}
	return &oas.SipNumberListReply{Data: list}, nil
}

// GenerateSipPassword serves POST /v1/sip/generate-password. It returns a random password of a given length or strength.
func (*api) GenerateSipPassword(_ context.Context, req oas.OptSipPasswordLength) (*oas.SipPasswordReply, error) {
	length, given := req.Value.Length.Get()
	strength, named := req.Value.Strength.Get()
	switch {
	case given && named:
		return nil, callwright.Invalid("strength", "at most one of length and strength is allowed")
	case strength == oas.SipPasswordLengthStrengthLong:
		length = sip.LongPassword
	case !given:
		length = sip.StandardPassword
	}
	password := sip.GeneratePassword(length)
	return &oas.SipPasswordReply{Data: oas.SipPassword{Password: password.Reveal(), Length: length}}, nil
}

// ParseSipDestination serves POST /v1/sip/parse-destination. It parses the text that a person entered as an endpoint. It also answers 200
// if the text is invalid.
func (*api) ParseSipDestination(
	_ context.Context, req *oas.SipDestinationParse,
) (*oas.SipDestinationReply, error) {
	answer := &oas.SipDestinationReply{}
	answer.Data.Parsed.SetToNull()
	to, err := uri.ParseDestination(req.Input)
	if err != nil {
		return answer, nil //nolint:nilerr // the answer says that the input is not valid
	}
	answer.Data.Valid = true
	answer.Data.Parsed.SetTo(oas.SipDestination{
		Host: to.Host, Normalized: to.Normalized, IsPrivateIP: to.IsPrivateIP,
		Port:      oas.OptNilInt{Value: int(to.Port), Set: true, Null: to.Port == 0},
		User:      oas.OptNilString{Value: to.User, Set: true, Null: to.User == ""},
		Transport: oas.OptNilSipDestinationTransport{Value: oas.SipDestinationTransport(to.Transport), Set: true, Null: to.Transport == ""},
	})
	return answer, nil
}
