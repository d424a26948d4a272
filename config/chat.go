package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Chat is a short digest of what happened to pages, sent to a chat or a phone once a period.
type Chat struct {
	Name  string // unique, as that of a Webhook
	Form  string // what takes it: one of ChatForms
	URL   string // where that is, http or https; or where it is written, as of Token, since whoever has one of Slack or Discord may write there. See Address
	Token string // that lets write: ${file:/path} or ${credential:name}; empty: none. See Secret
	To    string // the room of Matrix, the chat of Telegram

	Private bool // it may be at a private address or on this machine, and without TLS

	Digest // once in 5 minutes by default
}

// What a Chat may be for. Others take the form of one of them: Mattermost, Rocket.Chat and Zulip that of Slack.
const (
	ChatSlack    = "slack"
	ChatDiscord  = "discord"
	ChatNtfy     = "ntfy"
	ChatGotify   = "gotify"
	ChatMatrix   = "matrix"
	ChatTelegram = "telegram"
)

// ChatForms are all of them.
func ChatForms() []string {
	return []string{ChatSlack, ChatDiscord, ChatNtfy, ChatGotify, ChatMatrix, ChatTelegram}
}

// TelegramURL is where Telegram takes messages; the url of its chats by default.
const TelegramURL = "https://api.telegram.org"

const (
	maxChats  = 32
	maxChatTo = 255 // bytes of a room's name, as Matrix has it
)

// Address is the URL itself, without a slash at its end. Where it is a secret it is read anew each time: a file that was changed counts at once.
func (c *Chat) Address() (string, error) {
	text := cmp.Or(c.URL, TelegramURL)
	secret := checkSecretPlace(text) == nil
	if secret {
		var err error
		if text, err = readLine(text, "a URL"); err != nil {
			return "", err
		}
	}
	err := checkURL(text)
	u, bad := url.Parse(text)
	longer := c.Form == ChatGotify || c.Form == ChatMatrix || c.Form == ChatTelegram // the form puts something behind it
	switch {
	case secret && cmp.Or(err, bad) != nil: // without the text
		return "", errors.New("is no URL: write it as it was given out, in one line")
	case cmp.Or(err, bad) != nil:
		return "", cmp.Or(err, bad)
	case u.Scheme == "http" && !c.Private:
		return "", errors.New("is not of scheme https: whoever is on the way could read it; private: on allows it in a private network or on this machine")
	case longer && strings.ContainsAny(text, "?#"):
		return "", errors.New(`has more than a host and a path, write it without "?" and "#"`)
	case u.RawQuery != "": // whose end may be anything
		return text, nil
	}
	return strings.TrimRight(text, "/"), nil
}

// Secret reads the token, "" where there is none, as Mail.Secret reads a password.
func (c *Chat) Secret() (string, error) { return readToken(c.Token) }

// Where is where it is sent, without what is secret: "ntfy at ntfy.sh".
func (c *Chat) Where() string {
	address, err := c.Address()
	u, bad := url.Parse(address)
	if err != nil || bad != nil {
		return c.Form
	}
	return c.Form + " at " + u.Host
}

// checkChatURL accepts where a URL is written, and any text that is none of that: one of Slack is secret, and is not repeated before whole
// has asked for its place. What else is no URL is refused by Address.
func checkChatURL(text string) error {
	if strings.Contains(text, "${") {
		return checkSecretPlace(text)
	}
	return nil
}

// chatFields are the keys of a chat.
var chatFields = append([]field[Chat]{
	{key: "form", of: func(c *Chat) value { return word(&c.Form, oneOf(ChatForms()...)) }},
	{key: "url", of: func(c *Chat) value { return word(&c.URL, orNone(checkChatURL)) }},
	{key: "token", of: func(c *Chat) value { return word(&c.Token, orNone(checkSecretPlace)) }},
	{key: "to", of: func(c *Chat) value { return word(&c.To, orNone(present)) }},
	{key: "private", of: func(c *Chat) value { return toggle(&c.Private) }},
}, digestFields(func(c *Chat) *Digest { return &c.Digest })...)

// chatsValue is the chats as a value.
func chatsValue(at *[]Chat) value {
	return named[Chat]{
		at: at, what: "chats", most: maxChats, fields: chatFields,
		begin:  func(name string) Chat { return Chat{Name: name, Digest: Digest{Every: "5m", Kinds: DigestKinds()}} },
		name:   func(c *Chat) string { return c.Name },
		whole:  (*Chat).whole,
		unlock: (*Chat).unlock,
	}
}

// unlock reads what is secret, where a command beside the daemon can.
func (c *Chat) unlock() (key string, err error) {
	if !ofUnitAlone(c.URL) {
		if _, err := c.Address(); err != nil {
			return "url", err
		}
	}
	if ofUnitAlone(c.Token) {
		return "", nil
	}
	_, err = c.Secret()
	return "token", err
}

// whole tells what is missing of a chat, each key of which is good.
func (c *Chat) whole() error {
	const place = "write ${file:/path} or ${credential:name}"
	secretURL := c.Form == ChatSlack || c.Form == ChatDiscord
	wantsToken := c.Form == ChatGotify || c.Form == ChatMatrix || c.Form == ChatTelegram
	wantsTo := c.Form == ChatMatrix || c.Form == ChatTelegram
	switch {
	case c.Form == "":
		return fmt.Errorf("has no form, write one of %s", strings.Join(ChatForms(), ", "))
	case c.URL == "" && c.Form != ChatTelegram:
		return errors.New("has no url")
	case secretURL && checkSecretPlace(c.URL) != nil:
		return errors.New("has its url in this file: whoever has it may write there, " + place)
	case wantsToken && c.Token == "":
		return errors.New("has no token, " + place)
	case secretURL && c.Token != "":
		return fmt.Errorf("has a token, which %s has in its url", c.Form)
	case wantsTo && c.To == "":
		return errors.New(`has no to, write the room of Matrix ("!abc:example.net") or the chat of Telegram ("-100123", "@channel")`)
	case !wantsTo && c.To != "":
		return fmt.Errorf("has a to, which %s has in its url or its token", c.Form)
	case c.Form == ChatMatrix && !strings.HasPrefix(c.To, "!"):
		return errors.New(`has a to that is no room's own name, write the one that begins with "!": the settings of a room show it`)
	case len(c.To) > maxChatTo:
		return fmt.Errorf("has a to of %d bytes, at most %d", len(c.To), maxChatTo)
	}
	return c.Digest.whole()
}
