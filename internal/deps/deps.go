// Package deps holds libraries in go.mod until their users are here.
package deps

import (
	_ "github.com/emersion/go-smtp"
	_ "github.com/miekg/dns"
	_ "github.com/thesyncim/gopus"
	_ "github.com/wneessen/go-mail"
	_ "golang.org/x/time/rate"
)
