package httpapi_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
)

// sentMails is a Mailer that sends the texts of mails to the channel.
type sentMails chan string

func (m sentMails) SendMail(ctx context.Context, _, _, _, text string) error {
	select {
	case m <- text:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// sentBodies sends the bodies of webhooks to the channel.
type sentBodies chan string

func (b sentBodies) Send(ctx context.Context, _ callwright.OrgID, _, _ string, body []byte) error {
	select {
	case b <- string(body):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// TestLinkIsInNoWebhook checks that no webhook message contains the mailed link, from the start of a port request to its signature.
func TestLinkIsInNoWebhook(t *testing.T) {
	t.Parallel()
	mails, bodies := make(sentMails), make(sentBodies)
	var work *memstore.Work
	h := open(t).withPorts(func(c *porting.Config, l *loa.Config) {
		l.MailOnly, l.Mailer, c.Notifier = true, mails, portingapi.NewNotifier(bodies)
		work, _ = c.Work.(*memstore.Work)
	})
	h.port("+14155550100", `"webhook_url":"https://hooks.example.com/ports"`)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- work.Run(ctx) }()
	var link []string
	var told []string
	signed := false
	for !signed || len(told) < 2 {
		select {
		case mail := <-mails:
			if found := regexp.MustCompile(`https://voice\.example\.com(/loa/([\w-]{43}))`).FindStringSubmatch(mail); found != nil && !signed {
				link = found
				page := h.browse("GET", link[1], nil).Body.String()
				h.wantPage(h.browse("POST", link[1], signature(page)), http.StatusOK, "The letter is signed")
				signed = true
			}
		case body := <-bodies:
			told = append(told, body)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	all := strings.Join(told, "\n")
	for _, change := range []string{`"change":"initiated"`, `"change":"signed"`} {
		if !strings.Contains(all, change) {
			t.Errorf("the webhook was not told of %s: %s", change, all)
		}
	}
	if strings.Contains(all, "/loa/") || strings.Contains(all, link[2]) {
		t.Errorf("the webhook has the link %s: %s", link[0], all)
	}
}

// TestLinkIsMailedOnly checks that no answer contains the signing link if MailOnly is set, and that the mailed link works.
func TestLinkIsMailedOnly(t *testing.T) {
	t.Parallel()
	mails := make(sentMails)
	var work *memstore.Work
	h := open(t).withPorts(func(c *porting.Config, l *loa.Config) {
		l.MailOnly, l.Mailer = true, mails
		work, _ = c.Work.(*memstore.Work)
	})
	started := at(t, h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody("+14155550100")), "data")
	id, _ := at(t, started, "port_request_id").(string)
	again := at(t, h.want(http.StatusOK, "POST", "/v1/sip/port/"+id+"/letter/resend", ""), "data")
	for _, answer := range []any{started, again} {
		if link, ok := answer.(map[string]any)["signature_url"]; !ok || link != nil || at(t, answer, "status") != "waiting_for_signature" {
			t.Errorf("the answer is %v", answer)
		}
	}
	for _, target := range []string{"", "/" + id, "/" + id + "/letter"} {
		if answer := h.do("GET", "/v1/sip/port"+target, ""); answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), "/loa/") {
			t.Errorf("%s answers %d: %s", target, answer.Code, answer.Body)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- work.Run(ctx) }()
	link := regexp.MustCompile(`https://voice\.example\.com(/loa/[\w-]{43})`).FindStringSubmatch(<-mails)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if link == nil {
		t.Fatal("the mail has no link")
	}
	h.wantPage(h.do("GET", link[1], ""), http.StatusOK, "Acme Bakery")
}
