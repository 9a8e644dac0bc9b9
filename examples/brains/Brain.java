// A brain that takes a number of five digits. Run it with: SECRET=whsec_... PORT=8000 java Brain.java
import com.sun.net.httpserver.*;
import java.io.*;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import javax.crypto.spec.SecretKeySpec;

public class Brain {
  static final byte[] KEY = Base64.getDecoder().decode(System.getenv("SECRET").replaceFirst("^whsec_", ""));
  // The JDK reads no JSON: these patterns find the object "turn", and a member in it. Your program has a library for that.
  static final String STRING = "\"((?:[^\"\\\\]|\\\\.)*)\"";
  static final Pattern TURN = Pattern.compile("\"turn\":\\{((?:" + STRING + "|[^\"}])*)\\}");

  static String member(String object, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":(?:" + STRING + "|(\\d+))").matcher(object);
    return !found.find() ? "" : found.group(1) != null ? found.group(1) : found.group(2);
  }

  /** Reports whether Callwright has signed the body within the last five minutes. */
  static boolean signed(Headers headers, byte[] body) throws Exception {
    String id = headers.getFirst("webhook-id"), at = headers.getFirst("webhook-timestamp"), given = headers.getFirst("webhook-signature");
    if (id == null || at == null || given == null || Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(at)) > 300) return false;
    var mac = javax.crypto.Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
    mac.update((id + "." + at + ".").getBytes(StandardCharsets.UTF_8));
    byte[] right = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
    return Arrays.stream(given.split(" ")).anyMatch(one -> MessageDigest.isEqual(one.getBytes(), right));
  }

  /** Returns the lines of an answer to a turn. */
  static String answer(String turn) {
    String kind = member(turn, "kind"), text = member(turn, "text"), digits = member(turn, "digits"), say = "{\"type\":\"say\",\"text\":\"%s\"}\n";
    boolean first = member(turn, "number").equals("1");
    if (!first && digits.length() == 5) return "{\"type\":\"set\",\"variables\":{\"customer\":\"" + digits + "\"}}\n"
        + say.formatted("Thank you. Somebody will call you back. Goodbye.") + "{\"type\":\"end\",\"reason\":\"the number is known\"}\n";
    if (!first && text.toLowerCase().contains("person")) return say.formatted("One moment, please.") + "{\"type\":\"transfer\"}\n";
    return say.formatted(first ? "Hello. What is your customer number?" : kind.equals("start") ? "I could not reach anybody. What is your customer number?"
        : "Please say the five digits of your customer number.") + "{\"type\":\"expect\",\"kind\":\"digits\",\"min\":5,\"max\":5}\n{\"type\":\"done\",\"early\":true}\n";
  }

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(Optional.ofNullable(System.getenv("PORT")).orElse("8000"))), 0);
    server.createContext("/", exchange -> {
      try (exchange) {
        byte[] body = exchange.getRequestBody().readAllBytes();
        Matcher turn = TURN.matcher(new String(body, StandardCharsets.UTF_8));
        boolean good = signed(exchange.getRequestHeaders(), body) && turn.find();
        exchange.getResponseHeaders().set("content-type", "application/x-ndjson");
        exchange.sendResponseHeaders(good ? 200 : 401, good ? 0 : -1);
        if (good) exchange.getResponseBody().write(answer(turn.group(1)).getBytes());
      } catch (Exception e) { throw new IOException(e); }
    });
    server.setExecutor(java.util.concurrent.Executors.newCachedThreadPool()); // serves conversations side by side
    server.start();
  }
}
