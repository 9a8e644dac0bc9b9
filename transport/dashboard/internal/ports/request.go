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

// refresh is the interval of live updates. It may be long, because ports take days.
const refresh = 10 * time.Second

// request holds the data of the page of a port request.
type request struct {
	Request      porting.Request
	Steps        []step
	History      []porting.Entry // one page of the history
	Older, Newer string          // addresses of the adjacent pages of the history, or empty
	CanCancel    bool
	Account      string      // masked account number
	Letter       *loa.Letter // nil if the request has no letter
	Trail        []loa.Event // newest events of the audit trail; the evidence contains all
	Head         string
	Flaw         string // first mismatch that the verification found, if any
	PDF          bool   // the verification included the PDF
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

// turn selects the page of the history that ends before the entry whose number, from 1, is the query parameter "before". Without the
// parameter, it selects the newest entries. It also sets the links to the adjacent pages.
func (d *request) turn(r *page.Request, history []porting.Entry) error {
	end := len(history)
	if text := r.Query("before"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return callwright.Invalid("before", "must be the number of an entry, from 1")
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

// verify loads the letter of a request, if any, and verifies its audit trail. It also verifies the PDF if data.PDF is set.
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

// letter sends the PDF of the letter of authorization as an attachment.
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

// evidence sends the evidence file that "callwright ports verify" reads.
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

// document sends a document of a request. It is an attachment, because untrusted parties wrote the document.
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
		_, _ = io.Copy(w, body) // the browser has disconnected, or notices the missing bytes
	}}, nil
}

// attachment returns an answer that browsers save instead of showing it.
func attachment(name, mediaType string, data []byte) page.Content {
	return page.Content{Send: func(w http.ResponseWriter, _ *http.Request) {
		head(w.Header(), name, mediaType, int64(len(data)))
		_, _ = io.Copy(w, bytes.NewReader(data)) // fails only if the browser has disconnected
	}}
}

func head(h http.Header, name, mediaType string, size int64) {
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
}
