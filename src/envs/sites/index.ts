// Sites of our own, served on this machine under names of their own.

export * from './agent-auth/index.ts';
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
export { describeForms, openForms } from './forms/suite.ts';
export { describeMail, openMail } from './mail/suite.ts';
export { describeShop, openShop } from './shop/suite.ts';
export { describeWebNav, openWebNav } from './web-nav/suite.ts';
