// Sites of our own, served on this machine under names of their own.

export { openSiteHost, type SiteHost, type SiteInstance, type SiteLogEntry } from './host.ts';
export { escapeHtml, Html, inScript, markup, raw, type HtmlValue } from './html.ts';
export {
  htmlReply,
  jsonReply,
  notFound,
  redirect,
  textReply,
  type Site,
  type SiteProgram,
  type SiteReply,
  type SiteRequest,
} from './site.ts';
