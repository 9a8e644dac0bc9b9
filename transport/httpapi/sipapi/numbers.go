package sipapi

import (
	"context"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// GetSipConfiguration returns the trunks of a number.
func (a *api) GetSipConfiguration(
	ctx context.Context, params oas.GetSipConfigurationParams,
) (*oas.SipConfigurationReply, error) {
	record, err := a.trunks.Get(ctx, httpapi.Org(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	return &oas.SipConfigurationReply{
		Data: oas.SipConfigurationPair{Inbound: trunkOrNull(record.Inbound), Outbound: trunkOrNull(record.Outbound)},
	}, nil
}

// AttachSipNumbers attaches numbers to a trunk.
func (a *api) AttachSipNumbers(
	ctx context.Context, req *oas.SipAttach, _ oas.AttachSipNumbersParams,
) (*oas.SipAttachReply, error) {
	attachment, err := attachmentOf(req)
	if err != nil {
		return nil, err
	}
	done, err := a.trunks.Attach(ctx, httpapi.Org(ctx), attachment)
	if err != nil {
		for i, d := range req.Directions {
			err = asGiven(directionPath(i), d, err)
		}
		return nil, err
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
	}
	return &oas.SipAttachReply{Data: result}, nil
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

// UpdateSipNumber changes one direction of a number.
func (a *api) UpdateSipNumber(
	ctx context.Context, req *oas.SipUpdate,
) (*oas.SipUpdateReply, error) {
	const path = "updates"
	input, invalid := directionOf(req.Updates)
	if invalid != nil {
		return nil, wire.Below(path, invalid)
	}
	updated, err := a.trunks.Update(ctx, httpapi.Org(ctx), req.PhoneNumber, input)
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

// DetachSipNumber removes directions of a number.
func (a *api) DetachSipNumber(
	ctx context.Context, req *oas.SipDetach,
) (*oas.SipDetachReply, error) {
	directions := make([]sip.Direction, len(req.Directions))
	detached := make([]oas.SipDirection, len(req.Directions))
	for i, d := range req.Directions {
		directions[i], detached[i] = sip.Direction(d.Type), d.Type
	}
	number, err := a.trunks.Detach(ctx, httpapi.Org(ctx), req.PhoneNumber, directions)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "phone_number", number.String())
	return &oas.SipDetachReply{
		Data: oas.SipDetachResult{PhoneNumber: number.String(), Detached: detached},
	}, nil
}

// ListSipNumbers returns all numbers that are attached.
func (a *api) ListSipNumbers(ctx context.Context) (*oas.SipNumberListReply, error) {
	numbers, err := a.trunks.Numbers(ctx, httpapi.Org(ctx))
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
		}
	}
	return &oas.SipNumberListReply{Data: list}, nil
}

// ParseSipDestination reads what a person may write for an endpoint. What can't be read is an answer, too.
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
