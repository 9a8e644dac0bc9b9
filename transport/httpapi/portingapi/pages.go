package portingapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// ShowLetter serves GET /loa/{token}. It sends the signing page. It changes nothing, because mail scanners also open links.
func (a *api) ShowLetter(ctx context.Context, params oas.ShowLetterParams, w http.ResponseWriter) error {
	v, err := a.cfg.Letters.Show(ctx, callwright.Secret(params.Token))
	if err != nil {
		a.sendFailure(ctx, w, err)
		return nil
	}
	send(ctx, w, letterPage(v, params.Token))
	return nil
}

// SignLetter serves POST /loa/{token}. It records the signer's decision.
//
// It requires no protection against requests that other sites cause (CSRF). Only the token authorizes a signature, and other sites do not
// know it. Credentials that a browser adds, such as a cookie or a network address, authorize nothing here.
func (a *api) SignLetter(ctx context.Context, req *oas.LetterSignature, params oas.SignLetterParams, w http.ResponseWriter) error {
	token := callwright.Secret(params.Token)
	v, err := a.decide(ctx, token, req)
	if err == nil {
		done := letterPage(v, params.Token)
		done.status = http.StatusOK
		send(ctx, w, done)
		return nil
	}
	if !errors.Is(err, callwright.ErrBadRequest) && !errors.Is(err, callwright.ErrInvalidState) {
		a.sendFailure(ctx, w, err)
		return nil
	}
	if v, showErr := a.cfg.Letters.Show(ctx, token); showErr != nil {
		a.sendFailure(ctx, w, showErr)
	} else {
		send(ctx, w, letterPage(v, params.Token).with(req, err))
	}
	return nil
}

// decide signs or declines the letter, with the client's address and user agent as the origin of the decision.
func (a *api) decide(ctx context.Context, token callwright.Secret, req *oas.LetterSignature) (loa.View, error) {
	client := httpapi.ClientOf(ctx)
	from := loa.Origin{IP: client.Address, UserAgent: callwright.Clip(client.UserAgent, loa.MaxUserAgent)}
	if req.Decision == oas.LetterSignatureDecisionDecline {
		return a.cfg.Letters.Decline(ctx, token, req.Reason.Or(""), from)
	}
	return a.cfg.Letters.Sign(ctx, token, loa.Signature{
		Name: req.SignerName.Or(""), Title: req.SignerTitle.Or(""), Consent: req.Consent.Or("") == yes, Authority: req.Authority.Or("") == yes,
		SHA256: req.LetterSHA256.Or(""), Origin: from,
	})
}

// sendFailure sends a page about an error in place of the letter.
func (a *api) sendFailure(ctx context.Context, w http.ResponseWriter, err error) {
	f := httpapi.NewFailure(ctx, err) // also records the error for the log
	p := failurePage(f.Status)
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	send(ctx, w, p)
}

// pagesBelow is the path prefix of the pages for signers.
const pagesBelow = "/loa/"

// pages serves the pages for signers in addition to the generated operations.
type pages struct{ httpapi.Server }

// ServeHTTP serves a request. For a page, it sets security headers, and removes the query and a trailing slash, because programs that
// forward links may add them.
func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, pagesBelow) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("X-Frame-Options", "DENY") // for browsers without support of frame-ancestors
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		plain := *r
		plain.URL = new(url.URL)
		*plain.URL = *r.URL
		plain.URL.RawQuery, plain.URL.ForceQuery = "", false
		plain.URL.Path, plain.URL.RawPath = withoutSlash(plain.URL.Path), withoutSlash(plain.URL.RawPath)
		r = &plain
	}
	p.Server.ServeHTTP(w, r)
}

// Find returns the operation of a request. For a page, it ignores a trailing slash, because mail programs add one to links.
func (p pages) Find(method string, u *url.URL) (httpapi.Operation, bool) {
	if strings.HasPrefix(u.Path, pagesBelow) {
		plain := *u
		plain.Path, plain.RawPath = withoutSlash(u.Path), withoutSlash(u.RawPath)
		u = &plain
	}
	return p.Server.Find(method, u)
}

func withoutSlash(path string) string { return strings.TrimSuffix(path, "/") }

// refuse answers a request that the generated code could not decode. A signer receives a page.
func (a *api) refuse(ctx context.Context, w http.ResponseWriter, r *http.Request, err error) {
	_, noLink := errors.AsType[*ogenerrors.DecodeParamsError](err)
	switch {
	case !strings.HasPrefix(r.URL.Path, pagesBelow) || a.cfg.Letters == nil:
		httpapi.HandleError(ctx, w, r, err)
	case noLink: // the token has an invalid form
		a.sendFailure(ctx, w, callwright.ErrNotFound)
	default:
		a.sendFailure(ctx, w, err)
	}
}
