package loa

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// PDF returns the PDF of the letter with this link: the signed PDF if the letter is signed, otherwise the unsigned one. It returns
// CodeNotFound if the link is unknown or was replaced.
func (s *Service) PDF(ctx context.Context, token callwright.Secret) (data []byte, signed bool, err error) {
	l, err := s.linked(ctx, token)
	if err != nil {
		return nil, false, err
	}
	return s.pdf(ctx, l)
}

func (s *Service) pdf(ctx context.Context, l Letter) (data []byte, signed bool, err error) {
	signed = l.State == Signed
	data, err = s.cfg.Store.PDF(ctx, l.Org, l.Request, signed)
	return data, signed, err
}

// Letter returns the letter of a port request. It returns CodeNotFound if the organization has no such letter.
func (s *Service) Letter(ctx context.Context, org callwright.OrgID, request string) (Letter, error) {
	return s.cfg.Store.Letter(ctx, org, request)
}

// LetterPDF returns the PDF of a port request's letter: the signed PDF if the letter is signed, otherwise the unsigned one. It returns
// CodeNotFound if the organization has no such letter.
func (s *Service) LetterPDF(ctx context.Context, org callwright.OrgID, request string) (data []byte, signed bool, err error) {
	l, err := s.cfg.Store.Letter(ctx, org, request)
	if err != nil {
		return nil, false, err
	}
	return s.pdf(ctx, l)
}

// Evidence returns the evidence of a letter, which Verify checks. It returns CodeNotFound if the organization has no such letter.
func (s *Service) Evidence(ctx context.Context, org callwright.OrgID, request string) (Evidence, error) {
	l, err := s.cfg.Store.Letter(ctx, org, request)
	if err != nil {
		return Evidence{}, err
	}
	return s.evidence(ctx, l)
}

func (s *Service) evidence(ctx context.Context, l Letter) (Evidence, error) {
	events, err := s.cfg.Store.Events(ctx, l.Org, l.Request)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Request: l.Request, SHA256: l.SHA256, SignedSHA256: l.SignedSHA256, Head: l.Head,
		Events: events[:min(l.Events, len(events))], // omits events that were recorded after the letter was read
	}, nil
}

// Audit contains a letter, consistent evidence of it, and the result of Verify.
type Audit struct {
	Letter   Letter
	Evidence Evidence
	Flaw     string // first inconsistency that Verify found; empty if none
}

// Audit reads the letter of a port request, and verifies its evidence. If pdf is set, it also verifies the stored PDF: the signed PDF if
// the letter is signed, otherwise the unsigned one. An inconsistency is not an error: see Flaw. Audit returns CodeNotFound if the
// organization has no such letter.
func (s *Service) Audit(ctx context.Context, org callwright.OrgID, request string, pdf bool) (a Audit, err error) {
	if a.Letter, err = s.cfg.Store.Letter(ctx, org, request); err != nil {
		return Audit{}, err
	}
	if a.Evidence, err = s.evidence(ctx, a.Letter); err != nil {
		return Audit{}, err
	}
	var letter, signed []byte
	if pdf {
		data, isSigned, err := s.pdf(ctx, a.Letter)
		if err != nil {
			return Audit{}, err
		}
		if letter = data; isSigned {
			letter, signed = nil, data
		}
	}
	if err := Verify(a.Evidence, letter, signed); err != nil {
		if !errors.Is(err, callwright.ErrBadRequest) {
			return Audit{}, err
		}
		a.Flaw = callwright.MessageOf(err)
	}
	return a, nil
}
