package httpapi_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// sentMails takes the texts of mails.
type sentMails chan string

func (m sentMails) SendMail(ctx context.Context, _, _, _, text string) error {
	select {
	case m <- text:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// TestLinkIsMailedOnly signs with the link of the mail, which no answer has.
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
