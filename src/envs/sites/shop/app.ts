// The shop as one site.

import { routes, type App } from '../kit/app.ts';
import { ACCOUNT_ROUTES } from './account-pages.ts';
import { BASKET_ROUTES } from './basket-pages.ts';
import { CATALOGUE_ROUTES } from './catalogue-pages.ts';
import type { ShopState } from './world.ts';

export const shopApp: App<ShopState> = {
  host: 'www.fellside-shop.test',
  respond: routes<ShopState>({ ...CATALOGUE_ROUTES, ...BASKET_ROUTES, ...ACCOUNT_ROUTES }),
};
