package kamailio

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
)

// config is the configuration of Kamailio, which prints a line for every request. One process serves all connections, because the TLS
// module of Kamailio 5.6 sometimes frees memory twice when several processes accept connections concurrently.
const config = `debug=0
log_stderror=yes
children=1
tcp_children=1
auto_aliases=no
enable_tls=yes
tcp_connection_lifetime=3600
listen=tls:%s
loadmodule "tls.so"
loadmodule "sl.so"
loadmodule "tm.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "xlog.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "nathelper.so"
loadmodule "auth.so"
%smodparam("tls", "config", "%s")
modparam("auth", "algorithm", "%s")
modparam("auth", "nonce_expire", 300)
modparam("registrar", "max_expires", %d)
modparam("registrar", "received_avp", "$avp(RECEIVED)")
modparam("nathelper", "received_avp", "$avp(RECEIVED)")
request_route {
	xlog("L_ERR", "REQUEST $rm $ru from $si authorization=$hdr(Authorization)\n");
	if (has_totag()) {
		if (is_method("ACK") && !loose_route()) { exit; }
		if (!is_method("ACK")) { loose_route(); }
		t_relay();
		exit;
	}
	if (is_method("CANCEL")) { t_relay(); exit; }
	if (is_method("OPTIONS")) { options_reply(); exit; }
	if (is_method("REGISTER")) {
		if (!pv_www_authenticate("kamailio.test", "%s", "0")) {
			www_challenge("kamailio.test", "1");
			exit;
		}
		%s
		save("location");
		xlog("L_ERR", "SAVED $tu expires=$hdr(Expires) contact=$ct\n");
		exit;
	}
	if (is_method("INVITE")) {
		record_route();
		%s
		if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
		t_relay();
		exit;
	}
	sl_send_reply("405", "Method Not Allowed");
}
`

// dispatcher configures the module that probes a list of servers with OPTIONS. A server without a 2xx response counts as down immediately.
const dispatcher = `loadmodule "dispatcher.so"
modparam("dispatcher", "list_file", "%s")
modparam("dispatcher", "ds_ping_interval", 1)
modparam("dispatcher", "ds_ping_from", "sip:proxy@127.0.0.1")
modparam("dispatcher", "ds_ping_reply_codes", "class=2")
modparam("dispatcher", "ds_probing_mode", 1)
modparam("dispatcher", "ds_probing_threshold", 1)
modparam("dispatcher", "ds_inactive_threshold", 1)
event_route[dispatcher:dst-down] { xlog("L_ERR", "DOWN $ru\n"); }
`

// dispatch routes a call to the available server of the highest priority, or answers 503 if no server is available.
const dispatch = `if (!ds_select_dst("1", "8")) { sl_send_reply("503", "No Server"); exit; } t_relay(); exit;`

const tlsConfig = `[server:default]
method = TLSv1.2+
verify_certificate = no
require_certificate = no
private_key = %[1]s
certificate = %[2]s
ca_list = %[3]s
[client:default]
method = TLSv1.2+
verify_certificate = %[4]s
private_key = %[1]s
certificate = %[2]s
ca_list = %[3]s
`

// writeHome writes the files that Kamailio reads at its start, and returns the path of its configuration.
func writeHome(t testing.TB, home string, c Config, listen string) string {
	t.Helper()
	write := func(name, content string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate, err := c.CA.Issue("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	chain, key, err := testca.PEM(certificate)
	if err != nil {
		t.Fatal(err)
	}
	flows, verify := "fix_nated_register();", "yes"
	if c.CallsContacts {
		flows, verify = "", "no"
	}
	front := ""
	if c.Front.IsValid() {
		verify, front = "no", fmt.Sprintf(`$du = "sip:%s;transport=tls"; t_relay(); exit;`, c.Front)
	}
	nodes := ""
	if len(c.Nodes) > 0 {
		var list strings.Builder
		for i, n := range c.Nodes {
			fmt.Fprintf(&list, "1 sip:%s;transport=tls 0 %d\n", n, len(c.Nodes)-i)
		}
		verify, front, nodes = "no", dispatch, fmt.Sprintf(dispatcher, write("dispatcher.list", list.String()))
	}
	tls := write("tls.cfg",
		fmt.Sprintf(tlsConfig, write("key.pem", string(key)), write("chain.pem", string(chain)), c.CA.CertFile(), verify))
	return write("kamailio.cfg", fmt.Sprintf(config, listen, nodes, tls, c.Algorithm, c.MaxExpires, c.Password, flows, front))
}
