package trunks

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// proofForm holds the data of the page that proves a number.
type proofForm struct {
	Number callwright.PhoneNumber
	Setup  string       // id of the set-up that continues afterwards, or empty
	Proof  *proof.Proof // the newest proof, or nil
	Needed bool
	Faults page.Faults
}

// To returns the address of the page, or of an action below it.
func (f proofForm) To(steps ...string) string {
	return address(toTrunk(f.Number.String(), append([]string{"proof"}, steps...)...), url.Values{"setup": {f.Setup}})
}

// Attach returns the address of the page that attaches the number: a step of the set-up, or a new set-up.
func (f proofForm) Attach() string {
	if f.Setup == "" {
		return "/trunks/new"
	}
	return address("/trunks/new/numbers", url.Values{"setup": {f.Setup}})
}

// Asks reports whether the proof waits for a code.
func (f proofForm) Asks() bool {
	return f.Proof != nil && (f.Proof.State == proof.StateWaiting || f.Proof.State == proof.StateCalled)
}

// proofForm returns the form of the number in the address. A number that is not available to the organization is not found.
func (p pages) proofForm(ctx context.Context, r *page.Request) (proofForm, error) {
	n, err := number(r)
	if err != nil {
		return proofForm{}, err
	}
	f := proofForm{Number: n, Setup: callwright.Clip(r.Query("setup"), 100)}
	f.Needed, err = p.cfg.Trunks.NeedsProof(ctx, r.Org(), n)
	if errors.Is(err, callwright.ErrConflict) {
		err = callwright.NotFound("number")
	}
	if err != nil {
		return f, err
	}
	latest, err := p.cfg.Proofs.Get(ctx, r.Org(), n.String())
	switch {
	case err == nil:
		f.Proof = &latest
	case !errors.Is(err, callwright.ErrNotFound):
		return f, err
	}
	return f, nil
}

// proofView shows a form. While the proof waits for a code, the page is updated live.
func proofView(f proofForm) *page.View {
	v := &page.View{Page: "proof", Title: "Prove " + f.Number.String(), Data: f}
	if len(f.Faults) > 0 {
		v.Status = http.StatusUnprocessableEntity
	}
	if f.Asks() {
		v.Live, v.Every = []string{"proof"}, 2*time.Second
	}
	return v
}

func (p pages) proof(ctx context.Context, r *page.Request) (page.Answer, error) {
	f, err := p.proofForm(ctx, r)
	return proofView(f), err
}

// prove requests a call that announces a code to the number.
func (p pages) prove(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.move(ctx, r, func(f proofForm) (page.Answer, error) {
		_, err := p.cfg.Proofs.Request(ctx, r.Org(), f.Number.String())
		return page.SeeOther{To: f.To()}, err
	})
}

// verify checks the typed code. If it is correct, the page that attaches the number follows.
func (p pages) verify(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.move(ctx, r, func(f proofForm) (page.Answer, error) {
		_, err := p.cfg.Proofs.Verify(ctx, r.Org(), f.Number.String(), r.Field("code"))
		return page.SeeOther{To: f.Attach(), Notice: f.Number.String() + " is proven. Attach it now."}, err
	})
}

// move calls the given function with the form of the number in the address. If the function returns an error that the user can correct,
// move shows the form with its faults.
func (p pages) move(ctx context.Context, r *page.Request, do func(proofForm) (page.Answer, error)) (page.Answer, error) {
	f, err := p.proofForm(ctx, r)
	if err != nil {
		return nil, err
	}
	answer, err := do(f)
	faults, mend := page.FaultsOf(err, map[string]string{"phone_number": ""})
	if err == nil || !mend {
		return answer, err
	}
	if f, err = p.proofForm(ctx, r); err != nil {
		return nil, err
	}
	f.Faults = faults
	return proofView(f), nil
}
