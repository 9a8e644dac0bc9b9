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
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// refresh is the time between two renderings: ports take days.
const refresh = 10 * time.Second

// request is the page of one port request.
type request struct {
	Request      porting.Request
	Steps        []step
	History      []porting.Entry // a page of it
	Older, Newer string          // addresses of the pages beside it; empty: there are none
	CanCancel    bool
	Account      string      // its number, masked
	Letter       *loa.Letter // nil: there is none
	Trail        []loa.Event // the newest of its audit trail; the evidence has all
	Head         string
	Flaw         string // fault found by the verification; empty: none
	PDF          bool   // the verification has compared the PDF, too
}

func (p pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	found, err := p.cfg.Ports.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := request{
		Request: found, CanCancel: p.cfg.Ports.CanCancel(found), Account: porting.Masked(found.Account.AccountNumber), PDF: r.Query("verify") == "pdf",
	}
	history, err := p.cfg.Ports.History(ctx, r.Org(), found.ID)
	if err != nil {
		return nil, err
	}
	data.Steps = steps(found, history)
	if err := data.turn(r, history); err != nil {
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

// turn shows the entries of a history before the one that the address names, which count from 1; without such a name the newest.
func (d *request) turn(r *page.Request, history []porting.Entry) error {
	end := len(history)
	if text := r.Query("before"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return callwright.Invalid("before", "must be the number of an entry")
		}
		end = min(end, n-1)
	}
	begin := max(0, end-pageSize)
	d.History = history[begin:end]
	if begin > 0 {
		d.Older = r.With("before", strconv.Itoa(begin+1))
	}
	switch {
	case end+pageSize < len(history):
		d.Newer = r.With("before", strconv.Itoa(end+pageSize+1))
	case end < len(history):
		d.Newer = r.With("before", "")
	}
	return nil
}

// verify reads the letter of a request and checks its audit trail, and its PDF if that is asked for.
func (p pages) verify(ctx context.Context, org callwright.OrgID, data *request) error {
	audit, err := p.cfg.Letters.Audit(ctx, org, data.Request.ID, data.PDF)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	events := audit.Evidence.Events
	data.Letter, data.Head, data.Flaw = &audit.Letter, audit.Evidence.Head, audit.Flaw
	data.Trail = events[max(0, len(events)-pageSize):]
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
		To: page.Path("/ports", found.ID), Notice: "Another link is on its way to " + found.Account.Email + ". The previous link no longer works.",
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

// evidence sends the input of callwright ports verify.
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
