package ports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// refresh is the time between two renderings: ports take days.
const refresh = 10 * time.Second

// maxTrail is how many events of an audit trail a page shows, the newest; the evidence has all.
const maxTrail = 100

// request is the page of one port request.
type request struct {
	Request  porting.Request
	History  []porting.Entry
	Account  string      // its number, masked
	Letter   *loa.Letter // nil: there is none
	Trail    []loa.Event
	Head     string
	Verified string // what the verification has found wrong; empty: nothing
	PDF      bool   // the verification has compared the PDF, too
}

func (p pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, err := p.cfg.Ports.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := request{Request: found, Account: porting.Masked(found.Account.AccountNumber), PDF: r.Query("verify") == "pdf"}
	if data.History, err = p.cfg.Ports.History(ctx, r.Org(), found.ID); err != nil {
		return nil, err
	}
	if err := p.verify(ctx, r.Org(), &data); err != nil {
		return nil, err
	}
	v := &page.View{Page: "request", Title: "Port request", Data: data}
	if !found.State.Ended() && !data.PDF {
		v.Live, v.Every = []string{"request"}, refresh
	}
	return v, nil
}

// verify reads the letter of a request and checks its audit trail, and its PDF if that is asked for.
func (p pages) verify(ctx context.Context, org callwright.OrgID, data *request) error {
	letter, err := p.cfg.Letters.Letter(ctx, org, data.Request.ID)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	evidence, err := p.cfg.Letters.Evidence(ctx, org, data.Request.ID)
	if err != nil {
		return err
	}
	var pdfs [2][]byte // the letter, and the signed letter
	if data.PDF {
		pdf, signed, err := p.cfg.Letters.LetterPDF(ctx, org, data.Request.ID)
		if err != nil {
			return err
		}
		pdfs[0] = pdf
		if signed {
			pdfs[0], pdfs[1] = nil, pdf
		}
	}
	if err := loa.Verify(evidence, pdfs[0], pdfs[1]); err != nil {
		if !errors.Is(err, callwright.ErrBadRequest) {
			return err
		}
		data.Verified = callwright.MessageOf(err)
	}
	data.Letter, data.Head = &letter, evidence.Head
	data.Trail = evidence.Events[max(0, len(evidence.Events)-maxTrail):]
	return nil
}

func (p pages) cancel(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, err := p.cfg.Ports.Cancel(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	notice := "The carrier is asked to cancel the request."
	if found.State == porting.Canceled {
		notice = "The request is canceled."
	}
	return page.SeeOther{To: page.Path("/ports", found.ID), Notice: notice}, nil
}

func (p pages) resend(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, _, err := p.cfg.Ports.Resend(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return page.SeeOther{
		To: page.Path("/ports", found.ID), Notice: "Another link is on its way to " + found.Account.Email + ". The one before has ended.",
	}, nil
}

// letter sends the PDF of the letter.
func (p pages) letter(ctx context.Context, r *page.Request) (page.Answer, error) {
	data, signed, err := p.cfg.Letters.LetterPDF(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	name := "letter-of-authorization.pdf"
	if signed {
		name = "letter-of-authorization-signed.pdf"
	}
	return attachment(name, "application/pdf", data), nil
}

// evidence sends what callwright ports verify reads.
func (p pages) evidence(ctx context.Context, r *page.Request) (page.Answer, error) {
	e, err := p.cfg.Letters.Evidence(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, err
	}
	return attachment("evidence.json", "application/json", data), nil
}

// document sends a document of a request. Strangers have written it: browsers save it.
func (p pages) document(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, err := p.cfg.Ports.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(found.Documents, r.PathValue("document")) {
		return nil, callwright.NotFound("document")
	}
	d, body, err := p.cfg.Documents.Open(ctx, r.Org(), r.PathValue("document"))
	if err != nil {
		return nil, err
	}
	return page.Content{Close: body.Close, Send: func(w http.ResponseWriter, _ *http.Request) {
		head(w.Header(), "document", d.Type, d.Size)
		_, _ = io.Copy(w, body) // the browser has gone, or sees that bytes are missing
	}}, nil
}

// attachment returns an answer that browsers save.
func attachment(name, mediaType string, data []byte) page.Content {
	return page.Content{Send: func(w http.ResponseWriter, _ *http.Request) {
		head(w.Header(), name, mediaType, int64(len(data)))
		_, _ = io.Copy(w, bytes.NewReader(data)) // the browser has gone if this fails
	}}
}

func head(h http.Header, name, mediaType string, size int64) {
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
}
