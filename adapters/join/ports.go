package join

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/triage"
)

// Ports resolves port requests for issues; it implements triage.ResourceResolver. It reads their store and not porting.Service, because
// that service reports failed requests through FailedPorts, which requires the issues first.
type Ports struct{ Store porting.Store }

var _ triage.ResourceResolver = Ports{}

// Find returns the titles and metadata of port requests, by id. It omits absent requests.
func (l Ports) Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]triage.Item, error) {
	return find(ids, func(id string) (triage.Item, error) {
		r, err := l.Store.Request(ctx, org, id)
		if err != nil {
			return triage.Item{}, err
		}
		what := "1 number"
		if len(r.Numbers) != 1 {
			what = fmt.Sprintf("%d numbers", len(r.Numbers))
		}
		var numbers []any
		for _, n := range r.Numbers[:min(len(r.Numbers), maxNumbers)] {
			numbers = append(numbers, string(n.Number))
		}
		status := r.Status()
		return triage.Item{Title: "Port of " + what + ", " + formatTime(r.CreatedAt), Metadata: map[string]any{
			"created_at": stamp(r.CreatedAt), "status": string(status.State), "status_detail": string(status.Detail), "phone_numbers": numbers,
		}}, nil
	})
}

// maxNumbers is the maximum number of phone numbers of a request in the metadata of Find and in the description of an issue.
const maxNumbers = 20

// Read returns the evidence about a port request for analysts: its state, the state of each number, and the last entries of its history (at
// most maxWay). It returns CodeNotFound if the organization does not own such a request.
func (l Ports) Read(ctx context.Context, org callwright.OrgID, id string) (triage.Evidence, error) {
	r, err := l.Store.Request(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	history, err := l.Store.History(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	f := facts{leftOut: "The account, the PINs, the carrier's own words, notes, documents and the webhook are not shown."}
	status := r.Status()
	f.add("status", string(status.State))
	f.add("status_detail", string(status.Detail))
	f.add("customer_type", string(r.Account.CustomerType))
	f.add("target_port_date", r.TargetDate.Format(time.DateOnly))
	f.at("created_at", &r.CreatedAt)
	f.at("signed_at", &r.SignedAt)
	f.at("cancel_requested_at", &r.CancelAskedAt)
	f.at("ended_at", &r.EndedAt)
	f.failure(r.Failure)
	for _, n := range r.Numbers {
		one := facts{"number": string(n.Number), "status": string(n.State)}
		one.at("foc_date", &n.FOC)
		one.at("ported_at", &n.PortedAt)
		one.failure(n.Failure)
		f.list("numbers", map[string]any(one))
	}
	for _, e := range history[max(0, len(history)-maxWay):] {
		f.list("history", map[string]any{
			"at": stamp(e.At), "event": string(e.Event), "by": string(e.Actor), "status": string(e.To), "status_detail": string(e.Detail),
		})
	}
	return triage.Evidence{Facts: f}, nil
}

// failure adds the code, the acting party and the remedy of a failure or a delay. It adds nothing for nil.
func (f facts) failure(why *porting.Failure) {
	if why == nil {
		return
	}
	r := why.Code.Remedy()
	f["failure"] = map[string]any{"code": string(r.Code), "who_must_act": string(r.Act), "field": r.Field, "remedy": r.Text}
}

// FailedPorts reports failed port requests as issues; it implements porting.Failures. Each failure code of an organization has its own
// issue, so a request whose numbers were rejected with several codes belongs to several issues.
type FailedPorts struct{ Issues *triage.Service }

var _ porting.Failures = FailedPorts{}

// PortFailed reports a failed request. If the request is already attached to the issues, another report changes nothing.
func (f FailedPorts) PortFailed(ctx context.Context, r porting.Request) error {
	for _, code := range failureCodes(r) {
		remedy := code.Remedy()
		_, err := f.Issues.Report(ctx, r.Org, triage.System(), triage.Report{
			Key: "port/" + string(code), Title: "Ports fail: " + strings.ReplaceAll(string(code), "_", " "),
			Severity: severities[remedy.Act], Category: "porting",
			Detail: remedy.Text + "\n" + acts[remedy.Act] + "\nNumbers of the first of these requests: " + failedNumbers(r, code) +
				".\nPort requests that fail alike are attached while the issue is open.",
			Resources: []triage.ResourceDraft{{Type: triage.ResourcePort, ResourceID: r.ID}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// failedNumbers returns the numbers of a request that were rejected with the given code, as text. If no number was rejected with it, only
// the request itself failed, and failedNumbers returns all numbers. It lists at most maxNumbers and counts the rest.
func failedNumbers(r porting.Request, code porting.FailureCode) string {
	var numbers, rejected []string
	for _, n := range r.Numbers {
		numbers = append(numbers, string(n.Number))
		if n.State == porting.NumberRejected && n.Failure != nil && n.Failure.Code.Remedy().Code == code {
			rejected = append(rejected, string(n.Number))
		}
	}
	if len(rejected) > 0 {
		numbers = rejected
	}
	text := strings.Join(numbers[:min(len(numbers), maxNumbers)], ", ")
	if more := len(numbers) - maxNumbers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// failureCodes returns the distinct failure codes of a request and its rejected numbers. Without any code, it returns OtherFailure.
func failureCodes(r porting.Request) (codes []porting.FailureCode) {
	add := func(why *porting.Failure) {
		if why == nil {
			return
		}
		if code := why.Code.Remedy().Code; !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	add(r.Failure)
	for _, n := range r.Numbers {
		if n.State == porting.NumberRejected {
			add(n.Failure)
		}
	}
	if len(codes) == 0 {
		codes = []porting.FailureCode{porting.OtherFailure}
	}
	return codes
}

// severities maps the party that must act on a failure to the severity of the issue.
var severities = map[porting.Party]triage.Severity{
	porting.ActOperator: triage.SeverityHigh, porting.ActCustomer: triage.SeverityMedium, porting.ActSigner: triage.SeverityMedium,
	porting.ActCarrier: triage.SeverityMedium, porting.ActNobody: triage.SeverityLow,
}

// acts maps the party that must act to a sentence for the description of the issue.
var acts = map[porting.Party]string{
	porting.ActOperator: "The operator of this service must act.",
	porting.ActCustomer: "The organization that requested the port must act, on a new request: an ended request cannot be resumed.",
	porting.ActSigner:   "The authorized representative of the account must act, on a new request.",
	porting.ActCarrier:  "The losing carrier must act. Ask it, and request the port again.",
	porting.ActNobody:   "Nobody can act: the numbers stay with the losing carrier.",
}
