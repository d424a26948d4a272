package sink

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"html"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"recrawld/config"
	"recrawld/digest"
)

// ChatForm is what takes letters. In its wordings a text of somebody else's page calls nobody, and leads nowhere but where it says.
type ChatForm struct {
	Text digest.Wording  // of a Letter's Text
	HTML *digest.Wording // of its HTML; nil: that is not sent

	request func(ctx context.Context, m message) (*http.Request, error)
}

// message is a letter on its way to a chat.
type message struct {
	Letter
	address, token, to string
}

// mostChat is how many bytes a text has at most. A message of Telegram may have 4096 characters, one of ntfy 4096 bytes, one of Discord
// 2000 characters with its subject, which has up to 200 that are written with two each.
const mostChat, mostDiscord = 3000, 1500

var (
	plainWords = digest.Wording{Most: mostChat, Text: func(text string) string { return text }, Link: func(title, url string) string {
		if title == "" {
			return url
		}
		return title + "\n" + url
	}}
	htmlWords     = digest.Wording{Most: mostChat, Text: html.EscapeString, Link: htmlLink}
	telegramWords = digest.Wording{Most: mostChat, Text: telegramText, Link: func(title, url string) string { return htmlLink(uncalled.Replace(title), url) }}
	slackWords    = digest.Wording{Most: mostChat, Text: slackText, Link: slackLink}
	discordWords  = digest.Wording{Most: mostDiscord, Text: discordText, Link: discordLink}
)

// FormOf is the form of a configured chat.
func FormOf(name string) ChatForm {
	return map[string]ChatForm{
		config.ChatSlack:    {slackWords, nil, slackRequest},
		config.ChatDiscord:  {discordWords, nil, discordRequest},
		config.ChatNtfy:     {plainWords, nil, ntfyRequest},
		config.ChatGotify:   {plainWords, nil, gotifyRequest},
		config.ChatMatrix:   {plainWords, &htmlWords, matrixRequest},
		config.ChatTelegram: {telegramWords, nil, telegramRequest},
	}[name]
}

// uncalled makes of @ one that calls nobody. Mattermost, Rocket.Chat, Zulip and Telegram each call by what stands behind it, @all,
// @channel_, @**all** or a name, also out of the midst of a word.
var uncalled = strings.NewReplacer("@", "@\u200b")

func htmlLink(title, url string) string {
	return `<a href="` + html.EscapeString(url) + `">` + html.EscapeString(cmp.Or(title, url)) + `</a>`
}

func telegramText(text string) string { return html.EscapeString(uncalled.Replace(text)) }

// slackMarks are what means something in Slack's mark-up, and in the Markdown that Mattermost makes of it: [x](url), or [x] with a line
// "[x]: url" elsewhere.
var slackMarks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "](", "]\u200b(", "]:", "]\u200b:")

func slackText(text string) string { return slackMarks.Replace(uncalled.Replace(text)) }

func slackLink(title, url string) string {
	url = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C").Replace(url)
	if title == "" {
		return "<" + url + ">"
	}
	return "<" + url + "|" + strings.ReplaceAll(slackText(title), "|", "¦") + ">"
}

// discordMarks are the characters that mean something in Discord's Markdown, of which a backslash makes themselves.
var discordMarks = regexp.MustCompile("[\\\\*_~`|<>#@:\\[\\]()-]")

func discordText(text string) string { return discordMarks.ReplaceAllString(text, `\$0`) }

// discordLink has the address in angle brackets, so that no picture of the page is fetched and shown.
func discordLink(title, url string) string {
	url = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(url) + ">"
	if title == "" {
		return url
	}
	return "[" + discordText(title) + "](" + url + ")"
}

// asJSON is a request with a body of JSON.
func asJSON(ctx context.Context, method, address string, body any) (*http.Request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err == nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, err
}

// slackRequest is for an incoming webhook of Slack, Mattermost, Rocket.Chat or Zulip.
func slackRequest(ctx context.Context, m message) (*http.Request, error) {
	return asJSON(ctx, http.MethodPost, m.address, map[string]any{"text": slackText(m.Subject) + "\n" + m.Text, "unfurl_links": false, "unfurl_media": false})
}

// discordRequest is for a webhook of Discord. Nobody is called, whatever the text says.
func discordRequest(ctx context.Context, m message) (*http.Request, error) {
	return asJSON(ctx, http.MethodPost, m.address, map[string]any{"content": "**" + discordText(m.Subject) + "**\n" + m.Text,
		"allowed_mentions": map[string]any{"parse": []string{}}})
}

// ntfyRequest is for a topic of ntfy.
func ntfyRequest(ctx context.Context, m message) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.address, strings.NewReader(m.Text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Title", mime.BEncoding.Encode("utf-8", oneLine(m.Subject)))
	if m.Link != "" {
		request.Header.Set("Click", mime.BEncoding.Encode("utf-8", m.Link))
	}
	if m.token != "" {
		request.Header.Set("Authorization", "Bearer "+m.token)
	}
	return request, nil
}

// gotifyRequest is for an application of Gotify.
func gotifyRequest(ctx context.Context, m message) (*http.Request, error) {
	body := map[string]any{"title": m.Subject, "message": m.Text, "priority": 5}
	if m.Link != "" {
		body["extras"] = map[string]any{"client::notification": map[string]any{"click": map[string]any{"url": m.Link}}}
	}
	request, err := asJSON(ctx, http.MethodPost, m.address+"/message", body)
	if err == nil {
		request.Header.Set("X-Gotify-Key", m.token)
	}
	return request, err
}

// matrixRequest is for a room of Matrix. The server takes a letter once, however often it comes, by its ID. It is no m.notice: no phone
// rings for one, unless its owner changes the rules that each has at first.
func matrixRequest(ctx context.Context, m message) (*http.Request, error) {
	address := m.address + "/_matrix/client/v3/rooms/" + url.PathEscape(m.to) + "/send/m.room.message/" + url.PathEscape(m.ID)
	request, err := asJSON(ctx, http.MethodPut, address, map[string]any{"msgtype": "m.text", "body": m.Subject + "\n" + m.Text,
		"format": "org.matrix.custom.html", "formatted_body": "<b>" + html.EscapeString(m.Subject) + "</b><br>" + strings.ReplaceAll(m.HTML, "\n", "<br>"),
		"m.mentions": map[string]any{}})
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+m.token)
	}
	return request, err
}

// telegramRequest is for a bot of Telegram.
func telegramRequest(ctx context.Context, m message) (*http.Request, error) {
	return asJSON(ctx, http.MethodPost, m.address+"/bot"+url.PathEscape(m.token)+"/sendMessage", map[string]any{"chat_id": m.to, "parse_mode": "HTML",
		"text": "<b>" + telegramText(m.Subject) + "</b>\n" + m.Text, "link_preview_options": map[string]any{"is_disabled": true}})
}
