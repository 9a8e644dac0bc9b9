package portingapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// GetPortLetter serves GET /v1/sip/port/{id}/letter. It returns the state of a letter and the evidence of its signature.
func (a *api) GetPortLetter(ctx context.Context, params oas.GetPortLetterParams) (*oas.PortLetterReply, error) {
	l, err := a.cfg.Letters.Letter(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	e, err := a.cfg.Letters.Evidence(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	return &oas.PortLetterReply{Data: oas.PortLetterRecord{Letter: letterRecord(l), Evidence: evidenceRecord(e)}}, nil
}

func letterRecord(l loa.Letter) oas.PortLetter {
	return oas.PortLetter{
		State: oas.PortLetterState(l.State), SHA256: l.SHA256, SignedSHA256: wire.NilText(l.SignedSHA256),
		CreatedAt: l.CreatedAt, SignBy: l.SignBy, EndedAt: nilTime(l.EndedAt), Links: l.Link, Reminders: l.Reminders,
	}
}

// evidenceRecord translates evidence. The JSON of the record equals the evidence's own JSON, which loa.Verify reads.
func evidenceRecord(e loa.Evidence) oas.PortLetterEvidence {
	record := oas.PortLetterEvidence{
		PortRequestID: e.Request, LetterSHA256: e.SHA256, SignedLetterSHA256: e.SignedSHA256, Head: e.Head,
		Events: make([]oas.PortLetterEvent, len(e.Events)),
	}
	for i, v := range e.Events {
		record.Events[i] = oas.PortLetterEvent{
			Number: v.Number, At: v.At.UTC(), Kind: oas.PortLetterEventKind(v.Kind), Email: v.Email, SHA256: v.SHA256, Name: v.Name, Title: v.Title,
			Disclosure: v.Disclosure, IP: v.Origin.IP, UserAgent: v.Origin.UserAgent, Reason: v.Reason, Previous: v.Previous, Hash: v.Hash,
		}
	}
	return record
}

// DownloadPortLetter serves GET /v1/sip/port/{id}/letter.pdf. It sends the PDF of a request's letter, signed if it has been signed.
func (a *api) DownloadPortLetter(ctx context.Context, params oas.DownloadPortLetterParams, w http.ResponseWriter) error {
	data, signed, err := a.cfg.Letters.LetterPDF(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("Content-Security-Policy", pdfPolicy)
	sendPDF(ctx, w, data, signed)
	return nil
}

// DownloadLetter serves GET /loa/{token}/letter.pdf. It sends the PDF of the letter that the token names.
func (a *api) DownloadLetter(ctx context.Context, params oas.DownloadLetterParams, w http.ResponseWriter) error {
	data, signed, err := a.cfg.Letters.PDF(ctx, callwright.Secret(params.Token))
	if err != nil {
		a.sendFailure(ctx, w, err)
		return nil
	}
	w.Header().Set("Content-Security-Policy", pdfPolicy)
	sendPDF(ctx, w, data, signed)
	return nil
}

// sendPDF sends a letter as an attachment, which browsers save instead of showing it.
func sendPDF(ctx context.Context, w http.ResponseWriter, data []byte, signed bool) {
	name := "letter-of-authorization.pdf"
	if signed {
		name = "letter-of-authorization-signed.pdf"
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if !httpapi.Head(ctx) {
		_, _ = w.Write(data) // fails only if the client has disconnected
	}
}
